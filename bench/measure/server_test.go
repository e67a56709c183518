package measure

import "testing"

func TestParseStatReadsCommandsWithParentheses(t *testing.T) {
	got, ok := parseStat("42 (postgres: a) b) S 7 42 42 0 -1 4194304 1 2 3 4 100 20 3000 400 20 0 1 0 1 2 3")
	if want := (procStat{command: "postgres: a) b", parent: 7, own: 120, ended: 3400}); !ok || got != want {
		t.Errorf("parseStat = %+v, %v, want %+v", got, ok, want)
	}
	if _, ok := parseStat("42 (cut off) S 7"); ok {
		t.Error("a short line was accepted")
	}
}
