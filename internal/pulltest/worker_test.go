package pulltest

import (
	"fmt"
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/queues"
)

// hosts are the programs, and what they pull from.
var hosts = []struct {
	program, kind string
}{
	{"ecs", queues.SQS},
	{"workerpool", queues.PubSub},
}

// TestAWorkerPullsAndStops: jobs of each priority are done; at SIGTERM one in its middle is handed back, no attempt is
// counted, and another worker does it.
func TestAWorkerPullsAndStops(t *testing.T) {
	for _, host := range hosts {
		t.Run(host.program, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.install(t, host.kind)
			stopTick := s.tick(t, 100)
			w := s.start(t, host.program)
			for i, id := range s.submit(t, job("echo", "1", core.Critical), job("echo", "2", core.Default), job("echo", "3", core.Bulk), job("fail", `{"times":1}`, core.Default)) {
				done := s.until(t, id, is(core.Done))
				if want := 1 + i/3; done.Attempts != want {
					t.Errorf("job %d took %d attempts, want %d", i, done.Attempts, want)
				}
			}

			long := s.submit(t, job("sleep", `{"ms":3600000}`, core.Default))[0]
			running := s.until(t, long, is(core.Running))
			stopTick()
			w.stop(t)
			back, err := s.store.Get(t.Context(), long)
			if err != nil {
				t.Fatal(err)
			}
			if back.Status != core.Scheduled || back.Attempts != 0 || len(back.Errors) != 0 || back.LeaseToken <= running.LeaseToken {
				t.Errorf("after SIGTERM it is %s, %d attempts, %d errors, token %d after %d", back.Status, back.Attempts, len(back.Errors), back.LeaseToken, running.LeaseToken)
			}
			s.tick(t, 100)
			other := s.start(t, host.program)
			if again := s.until(t, long, is(core.Running)); again.Attempts != 1 || again.WorkerID == running.WorkerID {
				t.Errorf("again: %d attempts, by %s after %s", again.Attempts, again.WorkerID, running.WorkerID)
			}
			if _, err := s.store.Cancel(t.Context(), long); err != nil {
				t.Fatal(err)
			}
			s.until(t, long, is(core.Cancelled))
			other.stop(t)
		})
	}
}

// A program that is told what it cannot do says so, and does not start.
func TestWhatAHostCannotDoIsRefused(t *testing.T) {
	s := newStage(t)
	for _, c := range []struct{ program, setting, want string }{
		{"ecs", "BELFRY_CLOUDSQL_INSTANCE=my-project:europe-west1:belfry", "BELFRY_CLOUDSQL_INSTANCE: is for programs on Google Cloud"},
		{"workerpool", "BELFRY_RDS_IAM=true", "BELFRY_RDS_IAM: is for programs on AWS"},
		{"workerpool", "BELFRY_LEASE=11m", "BELFRY_LEASE: is 11m0s, want at most 10m"},
	} {
		t.Run(fmt.Sprintf("%s %s", c.program, c.setting), func(t *testing.T) {
			refused(t, s, c.program, c.setting, c.want)
		})
	}
}
