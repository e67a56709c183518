package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Clean makes any text safe for a terminal, on one line: unprintable characters become visible escapes. Other texts are
// unchanged.
func Clean(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case Shows(r):
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

// Shows reports whether a terminal shows r as it is. Format characters reorder or hide the text around them, so they are
// escaped, except the joiner of emoji.
func Shows(r rune) bool {
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

// safeJSON returns a document on one line, in which characters that a terminal could act on have JSON escapes. Its meaning
// is unchanged; numbers and all other text keep their bytes.
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
		case Shows(r):
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
