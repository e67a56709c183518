package belfrytest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestGuidesShowCodeThatRuns: every line of the guides' Go blocks occurs in an example that runs.
func TestGuidesShowCodeThatRuns(t *testing.T) {
	t.Parallel()
	for guide, examples := range map[string]string{
		"handlers.md":              "../handler/example*_test.go",
		"testing-your-handlers.md": "example*_test.go",
	} {
		files, err := filepath.Glob(examples)
		if err != nil {
			t.Fatal(err)
		}
		var code strings.Builder
		for _, name := range files {
			code.WriteString(unindented(t, name))
		}
		text, err := os.ReadFile(filepath.Join("..", "docs", guide))
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile("(?s)```(?:go|text)\n(.*?)```").FindAllStringSubmatch(string(text), -1)
		if len(blocks) < 3 {
			t.Errorf("%s: %d blocks", guide, len(blocks))
		}
		for _, block := range blocks {
			if !strings.Contains(code.String(), "\n"+trimmed(block[1])) {
				t.Errorf("%s: no example has\n%s", guide, block[1])
			}
		}
	}
}

// unindented returns a file's lines without indentation and comment marks.
func unindented(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return trimmed(string(text))
}

func trimmed(text string) string {
	var lines strings.Builder
	for line := range strings.Lines(text) {
		lines.WriteString(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//")) + "\n")
	}
	return lines.String()
}
