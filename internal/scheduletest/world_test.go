package scheduletest

import (
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/tick"
)

// world is a store whose clock is moved by the test, a tick, and what users do.
type world struct {
	*testing.T
	store  core.Store
	offset *atomic.Int64
	acts   *schedule.Acts
	ticker *tick.Ticker
	claims int64
}

// newWorld begins at the instant given, on SQLite.
func newWorld(t *testing.T, at time.Time) *world {
	t.Helper()
	return newWorldBy(t, func() time.Time { return at })
}

// newWorldBy is newWorld by a clock of the test's.
func newWorldBy(t *testing.T, clock func() time.Time) *world {
	t.Helper()
	w := &world{T: t, offset: new(atomic.Int64)}
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{
		Clock: clock, Offset: w.offset, NoSync: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	w.store = store
	w.acts = schedule.NewActs(store, schedule.Options{}, nil)
	w.ticker = w.newTicker("a")
	return w
}

func (w *world) newTicker(holder string) *tick.Ticker {
	w.Helper()
	ticker, err := tick.New(w.store, tick.Options{Holder: holder, MaintainPeriod: 1000 * time.Hour})
	if err != nil {
		w.Fatal(err)
	}
	return ticker
}

// step moves the clock.
func (w *world) step(d time.Duration) { w.offset.Add(d.Microseconds()) }

func (w *world) now() time.Time {
	w.Helper()
	now, err := w.store.Now(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return now
}

// tick makes passes until nothing more is due at this instant.
func (w *world) tick() {
	w.Helper()
	for {
		report, err := w.ticker.Tick(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		if !report.More {
			return
		}
	}
}

// put makes or changes a schedule.
func (w *world) put(name string, rule core.ScheduleRule) core.Schedule {
	w.Helper()
	if rule.Type == "" {
		rule.Type = "work"
	}
	s, _, err := w.acts.Put(w.Context(), "", name, rule, schedule.Match{})
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// ledger reads a schedule's rows, oldest first.
func (w *world) ledger(name string) []core.Occurrence {
	w.Helper()
	s, err := w.store.GetSchedule(w.Context(), "", name)
	if err != nil {
		w.Fatal(err)
	}
	var all []core.Occurrence
	for q := (core.OccurrenceQuery{ScheduleID: s.ID, Limit: 1000}); ; {
		page, err := w.store.Occurrences(w.Context(), q)
		if err != nil {
			w.Fatal(err)
		}
		all = append(all, page...)
		if len(page) < q.Limit {
			slices.Reverse(all)
			return all
		}
		q.Before = page[len(page)-1].From
	}
}

// runs reads the jobs a schedule made, oldest instant first.
func (w *world) runs(name string) []core.Job {
	w.Helper()
	var all []core.Job
	for q := (core.ListQuery{Limit: 1000}); ; q.Before = 0 {
		page, err := w.store.List(w.Context(), q)
		if err != nil {
			w.Fatal(err)
		}
		for _, job := range page.Jobs {
			if job.Run != nil && job.Run.Schedule == name {
				all = append(all, job)
			}
		}
		if page.Next == 0 {
			break
		}
		q.Before = page.Next
	}
	slices.SortFunc(all, func(a, b core.Job) int { return a.Run.ScheduledFor.Compare(b.Run.ScheduledFor) })
	return all
}

// finish ends all live jobs of a type as done.
func (w *world) finish(typ string) {
	w.Helper()
	for len(w.take(typ)) > 0 {
	}
}

// take runs up to 1,000 due jobs of a type.
func (w *world) take(typ string) []core.Job {
	w.Helper()
	w.claims++
	res, err := w.store.ClaimDue(w.Context(), core.ClaimRequest{WorkerID: "w", ClaimID: w.claims, Lease: time.Hour,
		Quotas: []core.Quota{{Priority: core.Default, Type: typ, Limit: 1000}}})
	w.must(err)
	ends := make([]core.End, len(res.Jobs))
	for i, job := range res.Jobs {
		ends[i] = core.End{Ref: core.Ref{ID: job.ID, Token: job.LeaseToken}, Outcome: core.EndDone}
	}
	if len(ends) > 0 {
		_, err = w.store.Finish(w.Context(), ends)
		w.must(err)
	}
	return res.Jobs
}

// exact holds a ledger against the enumeration of the rule from the schedule's creation to now: every instant once.
func (w *world) exact(name string) {
	w.Helper()
	s, err := w.store.GetSchedule(w.Context(), "", name)
	if err != nil {
		w.Fatal(err)
	}
	rule, err := schedule.ParseRule(&s.Rule, s.State.Anchor)
	if err != nil {
		w.Fatal(err)
	}
	want, more := rule.Enumerate(s.CreatedAt, w.now(), 1_000_000)
	if more {
		w.Fatal("too many instants")
	}
	at := 0
	for _, row := range w.ledger(name) {
		for range row.Count {
			if at == len(want) || want[at].At.Before(row.From) || want[at].At.After(row.To) {
				w.Fatalf("%s: the row %s to %s (%d, %s %s) does not follow from the rule at instant %d of %d", name, row.From, row.To, row.Count, row.Outcome, row.Reason, at, len(want))
			}
			at++
		}
	}
	if at != len(want) {
		w.Fatalf("%s: the ledger ends at instant %d of %d: %s", name, at, len(want), want[at].At)
	}
}

// must fails on an error that is not among those allowed.
func (w *world) must(err error, allowed ...error) {
	w.Helper()
	for _, a := range allowed {
		if errors.Is(err, a) {
			return
		}
	}
	if err != nil {
		w.Fatal(err)
	}
}
