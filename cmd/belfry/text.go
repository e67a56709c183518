package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// clean makes text from anywhere safe to write to a terminal, on one line: what is not printable is written as an
// escape that a reader recognises. Texts without such characters come back as they are.
func clean(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case shows(r):
			b.WriteRune(r)
		case r < 0x80:
			b.WriteString(controls(r))
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += size
	}
	return b.String()
}

// shows reports whether r stands for itself on a terminal. Format characters do not: they reorder what is around
// them, or hide it. The joiner of emoji is the exception.
func shows(r rune) bool {
	return r == ' ' || r == '\u200d' || unicode.IsPrint(r)
}

func controls(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	}
	return fmt.Sprintf(`\x%02x`, r)
}

// safeJSON is a document on one line, with characters a terminal could act on escaped as JSON escapes them. It says
// the same; numbers and all other text keep their bytes.
func safeJSON(document []byte) []byte {
	var line bytes.Buffer
	if json.Compact(&line, document) != nil {
		quoted, err := json.Marshal(string(document))
		if err != nil {
			return []byte("null")
		}
		return safeJSON(quoted)
	}
	var b []byte
	for _, r := range line.String() { // what is not UTF-8 becomes U+FFFD
		switch {
		case shows(r):
			b = utf8.AppendRune(b, r)
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		}
	}
	return b
}
