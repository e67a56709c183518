package core

import (
	"bytes"
	"strconv"
)

// The body of a message is written and read by hand where it has the form that Encode gives it and its texts are
// plain, which is nearly always: by reflection a message would cost more than the rest of its way through a queue.

// plain reports whether a text stands in JSON as it is, whoever writes or reads it: printable ASCII, of which
// encoding/json escapes nothing.
func plain[T string | []byte](text T) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&':
			return false
		}
	}
	return true
}

// appendPlain appends the body of a message whose texts are plain.
func (m Message) appendPlain(b []byte) []byte {
	b = append(b, `{"v":`...)
	b = strconv.AppendInt(b, MessageVersion, 10)
	b = append(b, `,"id":"`...)
	b = strconv.AppendInt(b, m.ID, 10)
	b = append(b, `","token":"`...)
	b = strconv.AppendInt(b, m.Token, 10)
	b = append(b, `","priority":"`...)
	b = append(b, m.Priority.String()...)
	b = append(b, '"')
	b = appendText(b, `,"type":"`, m.Type)
	b = appendText(b, `,"tenant":"`, m.Tenant)
	b = appendText(b, `,"trace":"`, m.Trace)
	return append(b, '}')
}

func appendText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return append(append(append(b, name...), text...), '"')
}

// decodePlain reads a body of exactly the form appendPlain writes. Of any other it says false, and nothing is known
// of it: it may still be a message.
func decodePlain(body []byte) (m Message, ok bool) {
	rest, ok := bytes.CutPrefix(body, []byte(`{"v":1,"id":"`))
	if !ok {
		return m, false
	}
	id, rest, ok := cutText(rest, `","token":"`)
	if !ok {
		return m, false
	}
	token, rest, ok := cutText(rest, `","priority":"`)
	if !ok {
		return m, false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return m, false
	}
	priority, rest := rest[:end], rest[end+1:]
	for _, p := range Priorities {
		if p.String() == string(priority) {
			m.Priority = p
		}
	}
	m.ID, m.Token = digits(id), digits(token)
	m.Type, rest = optional(rest, `,"type":"`)
	m.Tenant, rest = optional(rest, `,"tenant":"`)
	m.Trace, rest = optional(rest, `,"trace":"`)
	return m, m.Priority.Valid() && m.ID > 0 && m.Token >= 0 && string(rest) == "}"
}

// cutText returns what is before separator and after it.
func cutText(b []byte, separator string) (before, after []byte, ok bool) {
	return bytes.Cut(b, []byte(separator))
}

// optional reads a member that may be left out. What is wrong with it is left in rest.
func optional(b []byte, name string) (text string, rest []byte) {
	if len(b) < len(name) || string(b[:len(name)]) != name {
		return "", b
	}
	end := bytes.IndexByte(b[len(name):], '"')
	if end <= 0 || !plain(b[len(name):len(name)+end]) {
		return "", b
	}
	return string(b[len(name) : len(name)+end]), b[len(name)+end+1:]
}

// digits is the number that b writes in decimal digits and nothing else, or -1.
func digits(b []byte) int64 {
	const most = 18 // such a number cannot overflow
	if len(b) == 0 || len(b) > most {
		return -1
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int64(c-'0')
	}
	return n
}
