package decode

import "encoding/json"

// The functions here walk JSON that jsonscan.Scan has accepted: they trust its grammar and look only for
// where values begin and end.

// members calls each for every member of an object, in order, duplicates included. value is a part of raw.
func members(raw []byte, each func(name string, value []byte)) {
	for at := space(raw, 1); raw[at] == '"'; {
		end := skip(raw, at)
		name := unquote(raw[at:end])
		at = space(raw, space(raw, end)+1)
		end = skip(raw, at)
		each(name, raw[at:end:end])
		if at = space(raw, end); raw[at] == ',' {
			at = space(raw, at+1)
		}
	}
}

// elements calls each for every element of an array until it answers false.
func elements(raw []byte, each func(value []byte) bool) {
	for at := space(raw, 1); raw[at] != ']'; {
		end := skip(raw, at)
		if !each(raw[at:end:end]) {
			return
		}
		if at = space(raw, end); raw[at] == ',' {
			at = space(raw, at+1)
		}
	}
}

// skip returns where the value that begins at position at ends.
func skip(raw []byte, at int) int {
	depth := 0
	for {
		switch raw[at] {
		case '"':
			at = skipString(raw, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		case ',', ':', ' ', '\t', '\n', '\r':
			at++
			continue
		default:
			at = skipWord(raw, at)
		}
		if depth == 0 {
			return at
		}
	}
}

func skipString(raw []byte, at int) int {
	for at++; raw[at] != '"'; at++ {
		if raw[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// skipWord passes a number, true, false or null.
func skipWord(raw []byte, at int) int {
	for ; at < len(raw); at++ {
		switch raw[at] {
		case ',', ']', '}', ' ', '\t', '\n', '\r':
			return at
		}
	}
	return at
}

// space returns the position of the first byte from at on that is no white space.
func space(raw []byte, at int) int {
	for raw[at] == ' ' || raw[at] == '\t' || raw[at] == '\n' || raw[at] == '\r' {
		at++
	}
	return at
}

func unquote(raw []byte) string {
	for _, c := range raw {
		if c == '\\' {
			var s string
			if json.Unmarshal(raw, &s) != nil {
				return ""
			}
			return s
		}
	}
	return string(raw[1 : len(raw)-1])
}

// Kind says in words what sort of value raw is.
func Kind(raw []byte) string {
	switch raw[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}
