package belfrytest_test

import (
	"context"
	"testing"

	"github.com/belfry-dev/belfry/belfrytest"
	"github.com/belfry-dev/belfry/handler"
)

func nothing(context.Context, *handler.Job[note]) error { return nil }

// BenchmarkEngine measures the start and the end of an idle engine.
func BenchmarkEngine(b *testing.B) {
	for b.Loop() {
		t := &exampleT{}
		belfrytest.New(t, setOf(nothing)).Drain()
		t.finish()
	}
}

// BenchmarkJob measures one job from Submit to its end.
func BenchmarkJob(b *testing.B) {
	e := belfrytest.New(b, setOf(nothing))
	for b.Loop() {
		e.Submit("note", nil)
		e.Drain()
	}
}
