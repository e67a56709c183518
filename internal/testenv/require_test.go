package testenv

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// ending records how a test was ended instead of ending it.
type ending struct {
	testing.TB
	skipped, failed string
}

func (*ending) Helper() {}

func (e *ending) Skipf(format string, args ...any) {
	e.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (e *ending) Fatalf(format string, args ...any) {
	e.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestMissingServer(t *testing.T) {
	tests := []struct {
		require  string
		wantFail bool
	}{
		{"", false},
		{"pgbouncer", false},
		{"postgres-other", false},
		{"postgres", true},
		{"pgbouncer, postgres", true},
	}
	for _, test := range tests {
		t.Run(test.require, func(t *testing.T) {
			t.Setenv(requireVariable, test.require)
			got := endOf(func(tb testing.TB) { missing(tb, "postgres", errors.New("not there"), "install it") })
			if test.wantFail != (got.failed != "") || test.wantFail == (got.skipped != "") {
				t.Errorf("failed %q, skipped %q; want failed: %v", got.failed, got.skipped, test.wantFail)
			}
			for _, part := range []string{"postgres", "not there", "install it"} {
				if !strings.Contains(got.failed+got.skipped, part) {
					t.Errorf("%q does not say %q", got.failed+got.skipped, part)
				}
			}
		})
	}
}

func TestProgramThatIsNotThere(t *testing.T) {
	t.Setenv(requireVariable, "no-such-program")
	got := endOf(func(tb testing.TB) { Program(tb, "no-such-program") })
	if got.failed == "" {
		t.Error("a required program that is missing did not fail the test")
	}
	if path := Program(t, "go"); path == "" {
		t.Error("no path for a program that is there")
	}
}

// endOf runs f as a test and returns how it ended.
func endOf(f func(testing.TB)) *ending {
	result := &ending{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(result)
	}()
	<-done
	return result
}
