package jsonscan

import (
	"strings"
	"testing"
)

func TestEncodingFaultNamesTheEncoding(t *testing.T) {
	for text, says := range map[string]string{
		"": "", "{}": "", "1": "", `{"a":"é🎉"}`: "", "\ufffd": "",
		"\ufeff{}":                 "begins with a byte order mark",
		"\xff\xfe{\x00}\x00":       "is encoded in UTF-16",
		"\xfe\xff\x00{\x00}":       "is encoded in UTF-16",
		"\xff\xfe\x00\x00{\x00":    "is encoded in UTF-32",
		"\x00\x00\xfe\xff\x00\x00": "is encoded in UTF-32",
		"{\x00}\x00":               "looks like UTF-16",
		"\x00{\x00}":               "looks like UTF-16",
		"{\"a\":\"k\xe9\"}":        "is not valid UTF-8: byte 0xe9 at offset 7",
		"\xc3":                     "is not valid UTF-8: byte 0xc3 at offset 0",
	} {
		if got := EncodingFault([]byte(text)); !strings.HasPrefix(got, says) || says == "" && got != "" {
			t.Errorf("%q: %q, want %q", text, got, says)
		}
	}
}
