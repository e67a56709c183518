package core

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestCleanText: NUL and invalid UTF-8 are replaced, long texts are cut between runes.
func TestCleanText(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		limit          int
	}{
		{"plain", "no such host", "no such host", 100},
		{"NUL", "bad\x00thing", "bad\uFFFDthing", 100},
		{"invalid UTF-8", "a\xff\xfeb\xc3", "a\uFFFDb\uFFFD", 100},
		{"cut between runes", strings.Repeat("é", 100), strings.Repeat("é", 12) + truncatedMark, 40},
		{"cut inside a rune", "x" + strings.Repeat("é", 100), "x" + strings.Repeat("é", 12) + truncatedMark, 40},
		{"exactly fits", strings.Repeat("z", 40), strings.Repeat("z", 40), 40},
		{"repair makes it too long", strings.Repeat("\x00", 40), strings.Repeat("\uFFFD", 8) + truncatedMark, 40},
		{"no room for the mark", "abcdefgh", "abc", 3},
		{"nothing", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := CleanText(c.in, c.limit); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzCleanText(f *testing.F) {
	f.Add("bad\x00thing\xff", 20)
	f.Add(strings.Repeat("日本", 50), 41)
	f.Add("\x80\x80\x80\x80\x80\x80", 4)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = min(max(limit, 0), 4096)
		got := CleanText(text, limit)
		if len(got) > limit || !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Errorf("CleanText(%q, %d) = %q (%d bytes)", text, limit, got, len(got))
		}
		if utf8.ValidString(text) && len(text) <= limit && !strings.ContainsRune(text, 0) && got != text {
			t.Errorf("a fitting text was changed: %q to %q", text, got)
		}
	})
}

// TestErrorHistoryIsBounded: 10,000 errors of 100 KB each leave the last 20, each cut.
func TestErrorHistoryIsBounded(t *testing.T) {
	stack := strings.Repeat("goroutine 1 [running]: é\n", 4_000)
	var history []AttemptError
	for i := range 10_000 {
		history = AppendError(history, AttemptError{Attempt: i + 1, At: time.Unix(int64(i), 0), Error: stack})
		if len(history) > MaxErrors {
			t.Fatalf("%d errors are kept", len(history))
		}
	}
	if len(history) != MaxErrors || history[0].Attempt != 9_981 || history[MaxErrors-1].Attempt != 10_000 {
		t.Fatalf("%d errors, first of attempt %d", len(history), history[0].Attempt)
	}
	for _, e := range history {
		if len(e.Error) > MaxErrorBytes || !strings.HasSuffix(e.Error, truncatedMark) {
			t.Fatalf("error of %d bytes ends %q", len(e.Error), e.Error[len(e.Error)-20:])
		}
	}
	older := history[:5:5]
	if AppendError(older, AttemptError{}); len(older) != 5 || older[0].Attempt != 9_981 {
		t.Error("the given history was changed")
	}
}
