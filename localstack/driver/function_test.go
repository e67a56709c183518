package main

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// An environment serves one invocation at a time; those beyond wait for it.
func TestEnvironmentServesOneAtATime(t *testing.T) {
	var running, most, served atomic.Int32
	f := emulator(t, func([]byte) (any, error) {
		n := running.Add(1)
		defer running.Add(-1)
		if n > most.Load() {
			most.Store(n)
		}
		<-time.After(time.Millisecond)
		served.Add(1)
		return nil, nil
	})
	group, ctx := errgroup.WithContext(t.Context())
	for range 40 {
		group.Go(func() error { _, err := f.invoke(ctx, "event"); return err })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if most.Load() != 1 || served.Load() != 40 {
		t.Errorf("served %d, up to %d at a time", served.Load(), most.Load())
	}
}

// Who waits for an environment gives up with its context; the invocation that runs is not touched.
func TestEventGrowsOld(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	var calls atomic.Int32
	f := emulator(t, func([]byte) (any, error) {
		if calls.Add(1) == 1 {
			close(begun)
			<-finish
		}
		return "done", nil
	})
	answer := make(chan error, 1)
	go func() {
		_, err := f.invoke(t.Context(), "long")
		answer <- err
	}()
	<-begun
	old, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := f.invoke(old, "late"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the event that found no environment: %v", err)
	}
	close(finish)
	if err := <-answer; err != nil {
		t.Error(err)
	}
}
