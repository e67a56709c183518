package core

import (
	"math"
	"strings"
	"testing"
	"time"
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

func TestReadDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "0s": 0, "-1s": -time.Second, ".5s": 500 * time.Millisecond, "1.s": time.Second, "+2ms": 2 * time.Millisecond,
		"9999999h": math.MaxInt64, "-9999999h": math.MinInt64, "99999999999999999999s": math.MaxInt64,
	} {
		if got, ok := ReadDuration(text); !ok || got != want {
			t.Errorf("%s: %s, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "0", "+0", "-0", "5", "s", "1d", "1 s", "1S", "1h 30m", "--1s", "1e3s", "9999999"} {
		if got, ok := ReadDuration(text); ok {
			t.Errorf("%q is taken as %s", text, got)
		}
	}
}
