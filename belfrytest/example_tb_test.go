package belfrytest_test

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// exampleT replaces the *testing.T of a test, which examples do not have. It prints the failure that would end the test.
type exampleT struct {
	testing.TB
	cleanups []func()
}

// endOfTest is the panic value of Fatalf; finish recovers it.
type endOfTest struct{}

func (t *exampleT) Helper()                  {}
func (t *exampleT) Context() context.Context { return context.Background() }
func (t *exampleT) Cleanup(f func())         { t.cleanups = append(t.cleanups, f) }
func (t *exampleT) Errorf(format string, args ...any) {
	fmt.Printf(format+"\n", args...)
}

func (t *exampleT) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	panic(endOfTest{})
}

func (t *exampleT) TempDir() string {
	dir, err := os.MkdirTemp("", "belfrytest")
	if err != nil {
		panic(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("%v", err)
		}
	})
	return dir
}

// finish does what the testing package does at the end of a test.
func (t *exampleT) finish() {
	if v := recover(); v != nil && v != (endOfTest{}) {
		defer panic(v)
	}
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}
