package enginetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/tick"
)

// Runs of a schedule whose type no worker handles wait in the table, and start once one comes. Where consumers may be
// functions that announce nothing they are published, but a new run does not publish those again that came back.
func TestRunsOfAnUnhandledTypeWaitForTheirHandler(t *testing.T) {
	for _, unannounced := range []bool{false, true} {
		t.Run(fmt.Sprint("unannounced types are published: ", unannounced), func(t *testing.T) {
			bubble(t, func(w *works) { unhandledRuns(w, unannounced) })
		})
	}
}

func unhandledRuns(w *works, unannounced bool) {
	stopTicker := run(w.T, w.ticker("a", func(o *tick.Options) { o.Unannounced = unannounced }))
	defer stopTicker()
	defer w.work("other", 10, time.Millisecond)()
	w.every(time.Second, "rare")
	time.Sleep(20 * time.Second)
	page, err := w.store.List(w.Context(), core.ListQuery{Type: "rare", Limit: 100})
	runs := page.Jobs
	if err != nil || len(runs) < 15 {
		w.Fatalf("%d runs were made in 20 s, %v", len(runs), err)
	}
	stats, err := w.store.Stats(w.Context(), time.Minute)
	if err != nil || stats.Unhandled < 15 {
		w.Errorf("%d runs are unhandled, %v", stats.Unhandled, err)
	}
	published := 0
	for _, job := range runs {
		published += w.sentOf(job.ID)
	}
	if !unannounced && published > 0 {
		w.Errorf("%d messages of a type that nobody handles", published)
	}
	if unannounced && (published == 0 || published > 2*len(runs)) {
		w.Errorf("%d messages of %d runs", published, len(runs))
	}
	stop := w.workOf("rare", "rare")
	time.Sleep(5 * time.Second)
	stop()
	for _, job := range runs {
		if job := get(w.T, w.store, job.ID); job.Status != core.Done || job.Attempts != 1 {
			w.Fatalf("run %d is %s after %d attempts once its type is handled, want done after 1", job.ID, job.Status, job.Attempts)
		}
	}
}

// A run of a type that a live worker handles is published in the pass after the one that made it.
func TestARunOfAHandledTypeIsPublishedAtOnce(t *testing.T) {
	bubble(t, func(w *works) {
		defer w.work("worker", 10, time.Millisecond)()
		time.Sleep(time.Second)
		w.every(time.Minute, "echo")
		ticker := w.ticker("a", func(o *tick.Options) { o.Unannounced = false })
		if report := tickOnce(w.T, ticker); report.Runs != 1 || !report.More {
			w.Fatalf("the first pass made %d runs, more: %t", report.Runs, report.More)
		}
		if report := tickOnce(w.T, ticker); report.Dispatched != 1 {
			w.Errorf("the next pass published %d jobs, want the run", report.Dispatched)
		}
	})
}

// every keeps a schedule of jobs of a type, whose first run is due.
func (w *works) every(period time.Duration, typ string) {
	w.Helper()
	at := time.Now().Add(-period).UTC().Truncate(time.Microsecond)
	_, err := w.store.CreateSchedule(w.Context(), core.Schedule{
		Name:  typ,
		Rule:  core.ScheduleRule{Every: core.ScheduleLength(period), Type: typ, Priority: "default", Missed: "once", Overlap: core.OverlapAllow},
		State: core.ScheduleState{Anchor: at, Accounted: at, NextDue: at.Add(period), TZData: schedule.TZDataVersion()},
	})
	if err != nil {
		w.Fatal(err)
	}
}

// sentOf says how many messages of a job were sent, under whatever token.
func (w *works) sentOf(id int64) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ref, times := range w.sent {
		if ref.ID == id {
			n += times
		}
	}
	return n
}
