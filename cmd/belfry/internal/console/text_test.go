package console

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"github.com/belfry-dev/belfry/internal/cmdlinetest"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"plain, é, 漢字, 👩‍👧 ok":  "plain, é, 漢字, 👩‍👧 ok",
		"\x1b[31m":              `\x1b[31m`,
		"a\nb\tc\rd\x00":        `a\nb\tc\rd\x00`,
		"\u009b1m\u0085":        `\u009b1m\u0085`,
		"\u202eabc\u2066\ufeff": `\u202eabc\u2066\ufeff`,
		"\xff\xc3":              `\xff\xc3`,
		"\U000e0041":            `\U000e0041`,
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func FuzzSafe(f *testing.F) {
	f.Add(cmdlinetest.Hostile)
	f.Add("{\"a\":\"\u009b\"}")
	f.Fuzz(func(t *testing.T, text string) {
		if bad := cmdlinetest.Unsafe(Clean(text)); bad != "" {
			t.Errorf("%q keeps %s", text, bad)
		}
		document, err := json.Marshal(map[string]string{"x": text})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range [][]byte{document, []byte(text), []byte(`"` + text + `"`)} {
			safe := safeJSON(d)
			if bad := cmdlinetest.Unsafe(string(safe)); bad != "" || !json.Valid(safe) {
				t.Errorf("%q keeps %s: %s", text, bad, safe)
			}
			var before, after any
			if json.Unmarshal(d, &before) == nil && (json.Unmarshal(safe, &after) != nil || !reflect.DeepEqual(before, after)) {
				t.Errorf("%q became %q", before, after)
			}
		}
	})
}

func TestTablesFitTheTerminal(t *testing.T) {
	cols := Columns("ID", "NAME…", "ERROR…", "STATE")
	rows := [][]string{
		{"1", strings.Repeat("漢", 30), strings.Repeat("long ", 30), "done"},
		{"123456", "👩‍👧 family", "", "failed"},
		{"2", "x", "y\nz", ""},
	}
	for _, width := range []int{0, 12, 20, 25, 34, 40, 60, 79, 80, 120, 200, 300} {
		var out bytes.Buffer
		WriteTable(&out, width, cols, rows)
		want := 4
		if width == 12 || width == 20 || width == 25 { // too narrow for the columns: blocks
			want = 12
		}
		if n := strings.Count(out.String(), "\n"); n != want {
			t.Errorf("width %d: %d lines\n%s", width, n, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if got := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); width > 0 && got > width {
				t.Errorf("width %d: a line of %d\n%s", width, got, out.String())
			}
		}
		full := strings.Contains(out.String(), strings.Repeat("long ", 29))
		if want := width == 0 || width == 300; full != want {
			t.Errorf("width %d: cut %v\n%s", width, !full, out.String())
		}
	}
}
