package core_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

func groupOf(typ, kind, text string) string {
	return core.ErrorGroup(typ, []core.AttemptError{{Error: "an earlier one", Kind: "lost"}, {Error: text, Kind: kind}})
}

func TestErrorGroupJoins(t *testing.T) {
	for name, texts := range map[string][]string{
		"numbers":   {"row 17 of 20 is bad", "row 3 of 20000 is bad"},
		"uuids":     {"order 0b54bd92-9d1c-4c5e-8f3a-1f6f6b8f2d11 is gone", "order abcdefab-cdef-abcd-efab-cdefabcdefab is gone"},
		"hex":       {"panic at 0xc000123abc", "panic at 0xDEADBEEF1"},
		"addresses": {"dial tcp 10.0.0.1:5432: connect: connection refused", "dial tcp 192.168.100.200:1: connect: connection refused"},
		"IPv6":      {"dial tcp [fe80::dead:beef]:443: timeout", "dial tcp [2001:db8::1]:8443: timeout"},
		"times":     {"too late at 2026-11-29T18:30:00Z", "too late at 2027-01-01T00:00:01.5Z"},
		"quoted":    {`no user "alice"`, `no user "bob the 2nd"`},
		"single":    {"column 'a b' is missing", "column 'c' is missing"},
		"backticks": {"table `x` is locked", "table `yy` is locked"},
		"spaces":    {"no  such\n\tfile", "no such file"},
		"tails":     {"broken: " + strings.Repeat("é", 300) + "a", "broken: " + strings.Repeat("é", 300) + "b"},
	} {
		for _, text := range texts[1:] {
			if groupOf("a", "error", texts[0]) != groupOf("a", "error", text) {
				t.Errorf("%s: %q and %q are two groups", name, texts[0], text)
			}
		}
	}
}

func TestErrorGroupParts(t *testing.T) {
	base := groupOf("a", "error", "no such file")
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(base) {
		t.Errorf("the group is %q", base)
	}
	for name, other := range map[string]string{
		"text":    groupOf("a", "error", "no such folder"),
		"kind":    groupOf("a", "timeout", "no such file"),
		"type":    groupOf("b", "error", "no such file"),
		"no text": groupOf("a", "error", ""),
		"prose":   groupOf("a", "error", "can't open; didn't try"),
		"none":    core.ErrorGroup("a", nil),
	} {
		if other == base {
			t.Errorf("another %s is the same group", name)
		}
	}
	if groupOf("a", "error", "can't open; didn't try") == groupOf("a", "error", "can't read; didn't try") {
		t.Error("apostrophes count as quotes")
	}
	if got := groupOf("mail.send", "error", "smtp: 10.0.0.1 said 550"); got != "89bd80297629814a" {
		t.Errorf("the group of a known text is %s now: people keep groups", got)
	}
}

func FuzzErrorGroup(f *testing.F) {
	f.Add("a", "error", "row 17: \"x\" at 10.0.0.1:80 'y' `z` ::1")
	f.Fuzz(func(t *testing.T, typ, kind, text string) {
		if got := groupOf(typ, kind, text); len(got) != 16 || got != groupOf(typ, kind, text) {
			t.Errorf("%q", got)
		}
	})
}
