package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// In every file that a command reads, a byte order mark is cut off, or named where the text goes on as it is, and UTF-16, which
// PowerShell's > writes, is named.
func TestEncodingsOfFiles(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, nodetest.Start(t, "api"))
	config, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	profiles := filepath.Join(config, "belfry", "profiles.json")
	if err := os.MkdirAll(filepath.Dir(profiles), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args, file, text string
		named            bool // the byte order mark is
	}{
		{"jobs submit echo --payload @FILE", "f", `{"a":1}`, true},
		{"jobs submit --file FILE", "f", `{"type":"echo"}` + "\n", false},
		{"types put hook --target https://example.com/ --header @FILE", "f", "X-A: b", false},
		{"schedules apply FILE --yes", "f", "schedules:\n- {name: a, type: echo, every: 1h}\n", false},
		{"schedules import crontab FILE --type shell --out -", "f", "5 5 * * * /bin/true\n", false},
		{"profiles set p --url http://127.0.0.1:1 --token-file FILE", "f", "a-token-0123456789-abc", false},
		{"profiles list", profiles, `{"p":{"url":"http://127.0.0.1:1"}}`, false},
		{"doctor --deployment FILE", "f", `{"deployment":{"value":{"cloud":"none"}}}`, false},
	} {
		path := filepath.Join(dir, "f")
		if c.file != "f" {
			path = c.file
		}
		args := strings.Fields(strings.ReplaceAll(c.args, "FILE", path))
		units := utf16.Encode([]rune("\ufeff" + c.text))
		wide := make([]byte, 0, 2*len(units))
		for _, u := range units {
			wide = binary.LittleEndian.AppendUint16(wide, u)
		}
		run := func(text string) int {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return r.run(args...)
		}
		plain := run(c.text)
		says := r.errs
		switch code := run("\ufeff" + c.text); {
		case c.named && (code != console.ExitUsage || !strings.Contains(r.errs, "byte order mark")):
			t.Errorf("%s with a byte order mark: %d %s", c.args, code, r.errs)
		case !c.named && (code != plain && code != console.ExitNothingNew || r.errs != says):
			t.Errorf("%s with a byte order mark: %d %s, without: %d %s", c.args, code, r.errs, plain, says)
		}
		if code := run(string(wide)); code != console.ExitUsage && code != console.ExitFailed || !strings.Contains(r.errs, "is encoded in UTF-16; it must be UTF-8") {
			t.Errorf("%s in UTF-16: %d %s", c.args, code, r.errs)
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(profiles); err != nil {
			t.Fatal(err)
		}
	}
}
