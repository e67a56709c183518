package boot

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
)

// A wake that is needed is made once in five seconds at most; one that failed is made again.
func TestWakerCoalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wakes, fails := 0, false
		w := NewWaker(Settings{TickIdle: time.Minute, TickWake: "tick"}, slog.New(slog.DiscardHandler), func(context.Context) error {
			if fails {
				return errors.New("away")
			}
			wakes++
			return nil
		})
		check := func(want int) {
			t.Helper()
			w.Flush(t.Context())
			if wakes != want {
				t.Fatalf("%d wakes, want %d", wakes, want)
			}
		}
		check(0)
		w.note(time.Hour) // the tick finds it by itself
		check(0)
		w.note(time.Minute)
		check(1)
		check(1)
		w.note(0) // the tick that was woken is still at work
		check(1)
		time.Sleep(wakeEvery)
		check(1)
		w.note(0)
		check(2)
		time.Sleep(wakeEvery)
		w.note(0)
		fails = true
		check(2)
		fails = false
		check(3)
	})
}

// A nil Waker wakes nobody, and the store is as it was.
func TestNoWaker(t *testing.T) {
	for _, s := range []Settings{{}, {TickIdle: time.Minute}, {TickWake: "tick"}} {
		w := NewWaker(s, nil, nil)
		if w != nil {
			t.Errorf("%+v makes a waker", s)
		}
		w.Flush(t.Context())
	}
	store := &sqlite.Store{}
	if Waking(store, nil) != core.Store(store) || WakingSubmit(store, nil) != core.SubmitStore(store) {
		t.Error("a store without a waker is another")
	}
}

// Whatever makes a job or a schedule due soon is noted; what changes nothing that is due is not.
func TestWhatWakes(t *testing.T) {
	kept, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	w := &Waker{within: time.Minute}
	store := Waking(kept, w)
	must := func(want bool, what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(what, err)
		}
		if w.needed != want {
			t.Errorf("%s: wakes: %v", what, w.needed)
		}
		w.needed = false
	}
	job := func(delay time.Duration, key string) core.NewJob {
		return core.NewJob{Type: "a", Payload: []byte("{}"), Priority: core.Default, Delay: delay, MaxAttempts: 2, DedupeKey: key}
	}
	answers, err := store.Submit(t.Context(), []core.NewJob{job(time.Hour, "")})
	must(false, "a job due in an hour", err)
	later := answers[0].ID
	_, err = store.Submit(t.Context(), []core.NewJob{job(30*time.Second, "")})
	must(true, "a job due in half a minute", err)
	answers, err = store.Submit(t.Context(), []core.NewJob{job(0, "key")})
	must(true, "a job due now", err)
	now := answers[0].ID
	_, err = store.Submit(t.Context(), []core.NewJob{job(0, "key")})
	must(false, "a duplicate", err)
	_, err = store.SubmitOnce(t.Context(), core.IdempotencyKey{Key: "k", Keep: time.Hour}, []core.NewJob{job(0, "")}, func([]core.Submitted) (core.Answer, error) { return core.Answer{Status: 201}, nil })
	must(true, "a job under an idempotency key", err)
	_, err = store.SubmitOnce(t.Context(), core.IdempotencyKey{Key: "k", Keep: time.Hour}, []core.NewJob{job(0, "")}, func([]core.Submitted) (core.Answer, error) { return core.Answer{Status: 201}, nil })
	must(false, "its replay", err)
	_, err = store.Reschedule(t.Context(), later, core.When{Delay: time.Second})
	must(true, "a job that is rescheduled", err)
	claimed, err := store.ClaimDue(t.Context(), core.ClaimRequest{WorkerID: "w", ClaimID: 1, Lease: time.Minute, Quotas: []core.Quota{{Priority: core.Default, Type: "a", Limit: 1}}})
	must(false, "a claim", err)
	end := core.End{Ref: core.Ref{ID: claimed.Jobs[0].ID, Token: claimed.Jobs[0].LeaseToken}, Outcome: core.EndRetry, Wait: 2 * time.Hour}
	_, err = store.Finish(t.Context(), []core.End{end})
	must(false, "a retry in two hours", err)
	claimed, err = store.ClaimDue(t.Context(), core.ClaimRequest{WorkerID: "w", ClaimID: 2, Lease: time.Minute, Quotas: []core.Quota{{Priority: core.Default, Type: "a", Limit: 1}}})
	must(false, "a claim", err)
	end = core.End{Ref: core.Ref{ID: claimed.Jobs[0].ID, Token: claimed.Jobs[0].LeaseToken}, Outcome: core.EndRetry, Wait: time.Second}
	_, err = store.Finish(t.Context(), []core.End{end})
	must(true, "a retry in a second", err)
	_, err = store.Cancel(t.Context(), now)
	must(false, "a cancel", err)
	acts := schedule.NewActs(store, schedule.Options{}, nil)
	_, _, err = acts.Put(t.Context(), "", "s", core.ScheduleRule{Every: core.ScheduleLength(time.Minute), Type: "a"}, schedule.Match{})
	must(true, "a new schedule", err)
	_, err = acts.Trigger(t.Context(), "", "s")
	must(true, "a schedule that is triggered", err)
}
