package pgserver

import "testing"

func TestMajor(t *testing.T) {
	for dir, want := range map[string]int{
		"/usr/lib/postgresql/15/bin":              15,
		"/usr/lib/postgresql/9/bin":               9,
		"/opt/homebrew/opt/postgresql@17/bin":     17,
		"/Applications/Postgres.app/Versions/bin": -1,
	} {
		if got := major(dir); got != want {
			t.Errorf("major(%q) = %d, want %d", dir, got, want)
		}
	}
}
