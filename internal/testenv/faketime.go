package testenv

import (
	"errors"
	"path/filepath"
	"testing"
)

// FakeTime returns the library that gives a program another clock, to be preloaded: libfaketime.
func FakeTime(t testing.TB) string {
	t.Helper()
	for _, pattern := range []string{"/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib/faketime/libfaketimeMT.so.1", "/usr/local/lib/faketime/libfaketimeMT.so.1"} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	missing(t, "faketime", errors.New("libfaketimeMT.so.1 is in none of its usual places"), "install faketime")
	return ""
}
