package jsonscan

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// ByteOrderMark is what some editors put before a text in UTF-8. JSON has none.
const ByteOrderMark = "\ufeff"

// encodingMarks are the first bytes of documents that are not plain UTF-8. UTF-32 comes first, because one of its marks
// begins with a mark of UTF-16.
var encodingMarks = []struct{ mark, fault string }{
	{"\xff\xfe\x00\x00", "is encoded in UTF-32; it must be UTF-8"}, {"\x00\x00\xfe\xff", "is encoded in UTF-32; it must be UTF-8"},
	{"\xff\xfe", "is encoded in UTF-16; it must be UTF-8"}, {"\xfe\xff", "is encoded in UTF-16; it must be UTF-8"},
	{ByteOrderMark, "begins with a byte order mark (EF BB BF), which JSON does not have; save it as UTF-8 without one"},
	{"\x1f\x8b", "is compressed by gzip; it must be plain text"}, {"\x28\xb5\x2f\xfd", "is compressed by zstd; it must be plain text"},
	{"PK\x03\x04", "is a zip archive; it must be plain text"},
}

// EncodingFault says why a document is not plain UTF-8, as the end of a sentence about the document, or returns "" if it is.
// A byte order mark is a fault; callers that accept one remove it first.
func EncodingFault(text []byte) string {
	if fault := EncodingOf(text); fault != "" {
		return fault
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

// EncodingOf returns the fault that a document's first few bytes show: a mark, or zero bytes next to ASCII characters as in
// UTF-16 and UTF-32.
func EncodingOf(text []byte) string {
	for _, m := range encodingMarks {
		if bytes.HasPrefix(text, []byte(m.mark)) {
			return m.fault
		}
	}
	zeros := bytes.Count(text[:min(len(text), 4)], []byte{0})
	switch {
	case len(text) >= 4 && zeros == 3:
		return "looks like UTF-32; it must be UTF-8"
	case bytes.IndexByte(text[:min(len(text), 2)], 0) >= 0:
		return "looks like UTF-16; it must be UTF-8"
	}
	return ""
}

// oddNames are characters that are invisible or look like other characters.
var oddNames = map[rune]string{
	'\ufeff': "a byte order mark", '\u00a0': "a no-break space", '\u200b': "a zero-width space", '\u2028': "a line separator",
	'\u201c': "a curly quote", '\u201d': "a curly quote", '\u201e': "a curly quote", '\u2018': "a curly quote", '\u2019': "a curly quote", 0: "a NUL",
}

// oddAt names the first character of text if a reader could overlook it or mistake it for another. It returns "" for
// printable ASCII and for an empty text.
func oddAt(text []byte) string {
	r, size := utf8.DecodeRune(text)
	switch name := oddNames[r]; {
	case size == 0:
		return ""
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf("the byte %02X, which is not UTF-8", text[0])
	case name != "":
		return fmt.Sprintf("%s (U+%04X)", name, r)
	case r < ' ' || r > '~':
		return fmt.Sprintf("U+%04X", r)
	}
	return ""
}
