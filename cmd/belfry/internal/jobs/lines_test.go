package jobs

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
)

func TestLinesAreReadOfAnyShape(t *testing.T) {
	for text, want := range map[string]int{"": 0, "\n\n \t\r\n": 0, "{}": 1, "{}\n": 1, "{}\r\n{}": 2, "x\n" + strings.Repeat("y", 3*maxLine): 2} {
		l := newLines(strings.NewReader(text), "f")
		n := 0
		for {
			_, err := l.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != want || l.offset != int64(len(text)) {
			t.Errorf("%.20q: %d lines, want %d; offset %d of %d", text, n, want, l.offset, len(text))
		}
	}
	broken := newLines(io.MultiReader(strings.NewReader("{}\n{"), brokenReader{}), "f")
	if _, err := broken.next(); err != nil {
		t.Error(err)
	}
	if _, err := broken.next(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a broken file ends with %v", err)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("disk gone") }

func TestDedupeKeysOfLines(t *testing.T) {
	keys := func(name, text string) []string {
		l := newLines(strings.NewReader(text), name)
		var keys []string
		for {
			one, err := l.next()
			if err != nil {
				return keys
			}
			keys = append(keys, string(bytes.TrimSpace(one.document)))
		}
	}
	a, b := keys("f", `{"type":"a"}`+"\n"+`{"type":"a"}`+"\n"), keys("g", `{"type":"a"}`)
	if a[0] == a[1] || a[0] == b[0] || keys("f", ` {"type":"a"} `)[0] != a[0] {
		t.Errorf("%q %q", a, b)
	}
	if !regexp.MustCompile(`^\{"dedupe_key":"line-[0-9a-f]{32}","type":"a"\}$`).MatchString(a[0]) {
		t.Error(a[0])
	}
	if got := keys("f", "{ }")[0]; !regexp.MustCompile(`^\{"dedupe_key":"line-[0-9a-f]{32}"\}$`).MatchString(got) {
		t.Error(got)
	}
	if got := keys("f", `{"dedupe_key":null}`)[0]; got != `{"dedupe_key":null}` {
		t.Error(got)
	}
}
