package belfrytest_test

import (
	"context"
	"testing"

	"github.com/belfry-dev/belfry/belfrytest"
	"github.com/belfry-dev/belfry/handler"
)

func nothing(context.Context, *handler.Job[note]) error { return nil }

// BenchmarkEngine is the start and the end of an engine that has nothing to do.
func BenchmarkEngine(b *testing.B) {
	for b.Loop() {
		t := &exampleT{}
		belfrytest.New(t, setOf(nothing)).Drain()
		t.finish()
	}
}

// BenchmarkJob is one job from Submit to its end.
func BenchmarkJob(b *testing.B) {
	e := belfrytest.New(b, setOf(nothing))
	for b.Loop() {
		e.Submit("note", nil)
		e.Drain()
	}
}
