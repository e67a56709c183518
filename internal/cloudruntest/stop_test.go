package cloudruntest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// TestStop: told to end in the middle of jobs, a container hands them back, answers their requests well and ends by
// itself, before Cloud Run would end it; the jobs run to their end in another one, and no attempt is lost.
func TestStop(t *testing.T) {
	for kind, run := range kinds {
		t.Run(kind, func(t *testing.T) {
			setting, store := database(t)
			issuer := NewIssuer(t)
			settings := append(callerSettings(issuer.Serve(t)), setting, "BELFRY_STOP_GRACE=500ms")
			f := run(t, "worker", settings...)
			token := issuer.Token(t, nil)
			const jobs = 5
			var ids []int64
			var messages []core.Message
			answers := make(chan int, jobs)
			for range jobs {
				id, m := queued(t, store, core.NewJob{Type: "sleep", Payload: json.RawMessage(`{"ms":3600000}`)})
				ids, messages = append(ids, id), append(messages, m)
				go func() {
					got, err := f.post(t.Context(), "/push", token, envelope(m.Encode()))
					if err != nil {
						t.Error(err)
					}
					answers <- got
				}()
			}
			for _, id := range ids {
				await(t, "the jobs run", func() bool {
					job, err := store.Get(t.Context(), id)
					return err == nil && job.Status == core.Running
				})
			}
			f.terminate(t)
			for range jobs {
				if got := <-answers; got != 204 {
					t.Errorf("answered %d", got)
				}
			}
			if err := f.wait(t); err != nil {
				t.Errorf("it ended with %v", err)
			}
			for _, id := range ids {
				ended(t, store, id, core.Scheduled, 0)
			}

			other := start(t, "worker", settings...)
			for _, m := range messages { // delivered again although they were answered: they are stale
				push(t, other, token, envelope(m.Encode()), 204)
			}
			for _, id := range ids {
				ended(t, store, id, core.Scheduled, 0)
			}
		})
	}
}

// TestKilled: a container that dies in the middle of a job answers nothing. The message comes again and is worthless while
// the row's lease holds; after that the scheduler finds the job.
func TestKilled(t *testing.T) {
	setting, store := database(t)
	issuer := NewIssuer(t)
	settings := append(callerSettings(issuer.Serve(t)), setting, "BELFRY_LEASE=1s", "BELFRY_HEARTBEAT=200ms", "BELFRY_TICK_TIME=5s", "BELFRY_ECONOMY=true")
	f := start(t, "worker", settings...)
	token := issuer.Token(t, nil)
	id, m := queued(t, store, core.NewJob{Type: "sleep", Payload: json.RawMessage(`{"ms":3600000}`)})
	over := make(chan int, 1)
	go func() {
		got, _ := f.post(t.Context(), "/push", token, envelope(m.Encode()))
		over <- got
	}()
	await(t, "the job runs", func() bool {
		job, err := store.Get(t.Context(), id)
		return err == nil && job.Status == core.Running
	})
	f.kill()
	if got := <-over; got != 0 {
		t.Errorf("answered %d", got)
	}
	tick, other := start(t, "tick", settings...), start(t, "worker", settings...)
	push(t, other, token, envelope(m.Encode()), 204)
	await(t, "the job is found", func() bool {
		if got, err := tick.post(t.Context(), "/tick", token, nil); err != nil || got != 204 {
			t.Fatal(got, err)
		}
		job, err := store.Get(t.Context(), id)
		return err == nil && job.Status == core.Scheduled
	})
	if job := ended(t, store, id, core.Scheduled, 1); len(job.Errors) != 1 || job.Errors[0].Kind != core.KindLost {
		t.Errorf("errors %+v, want that the worker was lost", job.Errors)
	}
}

// TestStopWhileIdle: there is nothing to wait for.
func TestStopWhileIdle(t *testing.T) {
	setting, _ := database(t)
	settings := append(callerSettings(NewIssuer(t).Serve(t)), setting, "BELFRY_TOKENS="+apiToken)
	for _, name := range []string{"api", "tick", "worker"} {
		f := start(t, name, settings...)
		began := time.Now()
		f.terminate(t)
		if err := f.wait(t); err != nil {
			t.Errorf("%s ended with %v", name, err)
		}
		t.Logf("%s ended after %s", name, time.Since(began))
	}
}
