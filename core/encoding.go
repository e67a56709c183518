package core

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// ByteOrderMark is what some editors put before a text in UTF-8. JSON has none.
const ByteOrderMark = "\ufeff"

// utf16Marks begin texts in UTF-16 and UTF-32; those of UTF-32 come first, for one of them begins like one of UTF-16.
var utf16Marks = []struct{ mark, name string }{
	{"\xff\xfe\x00\x00", "UTF-32"}, {"\x00\x00\xfe\xff", "UTF-32"}, {"\xff\xfe", "UTF-16"}, {"\xfe\xff", "UTF-16"},
}

// EncodingFault says why a document is not text in plain UTF-8, as the end of a sentence about the document; "" means that
// it is. A byte order mark is a fault: a reader that takes one cuts it off first.
func EncodingFault(text []byte) string {
	for _, m := range utf16Marks {
		if bytes.HasPrefix(text, []byte(m.mark)) {
			return "is encoded in " + m.name + "; it must be UTF-8"
		}
	}
	if bytes.HasPrefix(text, []byte(ByteOrderMark)) {
		return "begins with a byte order mark (EF BB BF), which JSON does not have; save it as UTF-8 without one"
	}
	// JSON begins with two characters of ASCII, or is one: with a zero byte among the first two it is UTF-16 or UTF-32.
	if bytes.IndexByte(text[:min(len(text), 2)], 0) >= 0 {
		return "looks like UTF-16; it must be UTF-8"
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Sprintf("is not valid UTF-8: byte 0x%02x at offset %d", text[at], at)
		}
		at += size
	}
	return ""
}
