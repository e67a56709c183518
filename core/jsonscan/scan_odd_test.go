package jsonscan

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"
)

// in encodes text with size bytes per character.
func in(order binary.ByteOrder, size int, text string) []byte {
	var b []byte
	for _, r := range text {
		unit := make([]byte, size)
		if size == 2 {
			order.PutUint16(unit, utf16.Encode([]rune{r})[0])
		} else {
			order.PutUint32(unit, uint32(r))
		}
		b = append(b, unit...)
	}
	return b
}

// TestScanJSONNamesTheEncoding: the error names the encoding, with and without a mark, for every kind of JSON value.
func TestScanJSONNamesTheEncoding(t *testing.T) {
	for _, text := range []string{`{"a":"é"}`, `["é"]`, `"é"`, "  {}", "[]", "12"} {
		for name, encoded := range map[string][]byte{
			"UTF-16": in(binary.LittleEndian, 2, text), "UTF-16 ": in(binary.BigEndian, 2, text), "UTF-16  ": in(binary.LittleEndian, 2, "\ufeff"+text), "UTF-16   ": in(binary.BigEndian, 2, "\ufeff"+text),
			"UTF-32": in(binary.LittleEndian, 4, text), "UTF-32 ": in(binary.BigEndian, 4, text), "UTF-32  ": in(binary.LittleEndian, 4, "\ufeff"+text), "UTF-32   ": in(binary.BigEndian, 4, "\ufeff"+text),
			"byte order mark": []byte("\ufeff" + text), "gzip": []byte("\x1f\x8b" + text),
		} {
			want := strings.TrimSpace(name)
			if got := EncodingFault(encoded); !strings.Contains(got, want) {
				t.Errorf("%q in %s: %q", text, want, got)
			}
			var at *Error
			if _, err := Scan(encoded); !errors.As(err, &at) || at.Offset != 0 || !strings.Contains(at.Reason, want) {
				t.Errorf("%q in %s: %v", text, want, err)
			}
		}
		if got := EncodingFault([]byte(text)); got != "" {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestScanJSONNamesWhatIsHardToSee: the error names characters that a reader of the text would overlook.
func TestScanJSONNamesWhatIsHardToSee(t *testing.T) {
	for text, want := range map[string]string{
		"{\u00a0}": "a no-break space (U+00A0)", "[1,\u200b2]": "a zero-width space", "{}\n\ufeff{}": "a byte order mark (U+FEFF)", "{\u201ca\u201d:1}": "a curly quote (U+201C)",
		"[\xe9]": "the byte E9, which is not UTF-8", "[1\x00]": "a NUL", "[１]": "U+FF11",
	} {
		if _, err := Scan([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
