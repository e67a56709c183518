package scheduletest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// A schedule of half past twelve whose scheduler is down from half past eleven to half past one.
func TestOneRunIsMadeUpAfterAnOutage(t *testing.T) {
	w := newWorld(t, noon.Add(-24*time.Hour))
	w.put("s", core.ScheduleRule{Cron: "30 12 * * *"})
	w.step(time.Hour)
	w.tick()
	w.step(22*time.Hour + 30*time.Minute)
	w.tick() // half past eleven the next day, with the first day's run made up
	w.step(2 * time.Hour)
	w.tick()
	w.exact("s")
	runs := w.runs("s")
	if len(runs) != 2 || !runs[1].Run.CatchUp || !runs[1].Run.ScheduledFor.Equal(noon.Add(30*time.Minute)) || !runs[1].RunAt.Equal(noon.Add(90*time.Minute)) {
		t.Errorf("%d runs, the last %+v due %s", len(runs), runs[len(runs)-1].Run, runs[len(runs)-1].RunAt)
	}
}

// The next instant follows from the one before by the store's clock, whatever the clock of the scheduler says: here they
// are months apart, and passes come at odd times.
func TestTheNextInstantFollowsFromTheOneBefore(t *testing.T) {
	w := newWorld(t, noon)
	s := w.put("s", core.ScheduleRule{Every: core.ScheduleLength(time.Minute)})
	for i := range 100 {
		w.step(time.Minute + time.Duration(i%7)*1013*time.Millisecond)
		w.tick()
	}
	w.exact("s")
	for i, job := range w.runs("s") {
		if want := s.State.Anchor.Add(time.Duration(i+1) * time.Minute); !job.Run.ScheduledFor.Equal(want) {
			t.Fatalf("run %d is for %s, want %s", i, job.Run.ScheduledFor, want)
		}
	}
}

// A redriven dead letter is a run of its schedule again: it holds back what must not overlap, and no instant is lost.
func TestARetriedRunIsActive(t *testing.T) {
	w := newWorld(t, noon)
	w.put("s", core.ScheduleRule{Cron: "* * * * *", Overlap: core.OverlapSkip, MaxAttempts: 1})
	w.pass(1, time.Minute)
	res, err := w.store.ClaimDue(t.Context(), core.ClaimRequest{WorkerID: "w", ClaimID: 1, Lease: time.Hour, Quotas: []core.Quota{{Priority: core.Default, Type: "work", Limit: 10}}})
	w.must(err)
	_, err = w.store.Finish(t.Context(), []core.End{{Ref: core.Ref{ID: res.Jobs[0].ID, Token: res.Jobs[0].LeaseToken}, Outcome: core.EndFail}})
	w.must(err)
	_, err = w.store.Retry(t.Context(), res.Jobs[0].ID)
	w.must(err)
	w.pass(2, time.Minute)
	w.finish("work")
	w.pass(1, time.Minute)
	w.exact("s")
	if got := w.shape("s"); got != "fired×1 skipped:overlap×2 fired×1 " {
		t.Errorf("%s", got)
	}
}

// A failed job is no success: the dead man's switch fires, and clears when the job was retried and succeeded.
func TestDeadMansSwitchOfAFailedJob(t *testing.T) {
	w := newWorld(t, noon)
	w.put("s", core.ScheduleRule{Cron: "0 13 * * *", MaxAttempts: 1, ExpectWithin: core.ScheduleLength(10 * time.Minute)})
	w.step(time.Hour)
	w.tick()
	job := w.runs("s")[0]
	res, err := w.store.ClaimDue(t.Context(), core.ClaimRequest{WorkerID: "w", ClaimID: 1, Lease: time.Hour, Quotas: []core.Quota{{Priority: core.Default, Type: "work", Limit: 10}}})
	w.must(err)
	_, err = w.store.Finish(t.Context(), []core.End{{Ref: core.Ref{ID: job.ID, Token: res.Jobs[0].LeaseToken}, Outcome: core.EndFail}})
	w.must(err)
	w.pass(12, time.Minute)
	if n := w.alerts(core.AlertScheduleMissed, true); n != 1 {
		t.Fatalf("%d open", n)
	}
	_, err = w.store.Retry(t.Context(), job.ID)
	w.must(err)
	w.finish("work")
	w.pass(2, time.Minute)
	if open, all := w.alerts(core.AlertScheduleMissed, true), w.alerts(core.AlertScheduleMissed, false); open != 0 || all != 1 {
		t.Errorf("%d open of %d", open, all)
	}
}

// Ticks of several processes at once, their leases moving between them, and users beside them, with two connections to one
// database or one file: no run is made twice, no alert is raised twice.
func TestSeveralTicksAtOnce(t *testing.T) {
	stores := map[string]func(t *testing.T) string{
		"sqlite": func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "belfry.db") },
		"postgres": func(t *testing.T) string {
			address := testenv.Postgres(t)
			if err := postgres.Migrate(t.Context(), address); err != nil {
				t.Fatal(err)
			}
			return address
		},
	}
	for name, where := range stores {
		t.Run(name, func(t *testing.T) { ticksAtOnce(t, where(t)) })
	}
}

// overtaken is the store of a tick that loses its leases to another between looking and writing: the other does it all, and
// ends the runs.
type overtaken struct {
	core.Store
	w     *world
	by    *tick.Ticker
	times atomic.Int64
}

func (o *overtaken) AdvanceSchedules(ctx context.Context, steps []core.Advance, fence []core.Held) ([]core.Advanced, error) {
	o.times.Add(1)
	if err := o.ReleaseLeases(ctx, "overtaken"); err != nil {
		return nil, err
	}
	if _, err := passOnce(ctx, o.by, o.Store, true); err != nil {
		return nil, err
	}
	return o.Store.AdvanceSchedules(ctx, steps, fence)
}

func (o *overtaken) ticker(holder string) *tick.Ticker {
	o.w.Helper()
	ticker, err := tick.New(o, tick.Options{Holder: holder, MaintainPeriod: 1000 * time.Hour})
	o.w.must(err)
	return ticker
}

func ticksAtOnce(t *testing.T, where string) {
	rng := rand.New(rand.NewPCG(7, 7))
	prepare(t, where, span{from: noon, schedules: 60, draw: mixed}, rng)
	store, err := openClocked(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w := &world{T: t, store: store, offset: store.offset}
	acts := schedule.NewActs(store, schedule.Options{}, nil)
	w.acts = acts
	w.must(store.set(t.Context(), noon.UnixMicro()))
	w.put("late", core.ScheduleRule{Cron: "*/5 * * * *", Type: "nobody", ExpectWithin: core.ScheduleLength(time.Minute)})
	overtaken := &overtaken{Store: store, w: w, by: w.newTicker("by")}
	tickers := make([]*tick.Ticker, 3)
	for i := range tickers {
		tickers[i] = w.newTicker(fmt.Sprint("t", i))
	}
	slow := overtaken.ticker("overtaken")
	now, triggered := noon, 0
	for round := range 40 {
		now = now.Add(time.Duration(rng.IntN(50)) * time.Second)
		w.must(store.set(t.Context(), now.UnixMicro()))
		if round%5 == 0 { // who comes first takes what is free
			for _, holder := range []string{"t0", "t1", "t2", "by"} {
				w.must(store.ReleaseLeases(t.Context(), holder))
			}
			_, err := passOnce(t.Context(), slow, store, false)
			w.must(err)
		}
		var all sync.WaitGroup
		for _, ticker := range tickers {
			all.Go(func() {
				if _, err := passOnce(t.Context(), ticker, store, false); err != nil {
					t.Error(err)
				}
			})
		}
		all.Go(func() {
			if _, err := acts.Trigger(context.WithoutCancel(t.Context()), "", "late"); err != nil {
				t.Error(err)
			}
		})
		triggered++
		all.Wait()
		if _, err := passOnce(t.Context(), tickers[0], store, true); err != nil {
			t.Fatal(err)
		}
	}
	if overtaken.times.Load() == 0 {
		t.Error("no tick was overtaken by another")
	}
	list, err := store.ListSchedules(t.Context(), core.ScheduleQuery{Limit: 1000})
	w.must(err)
	var kept archive
	kept.gather(t, store)
	jobs := kept.bySchedule(t)
	for i := range list {
		s := &list[i]
		rows := w.ledger(s.Name)
		w.expanded(s, rows, now)
		if s.Name == "late" {
			if made := len(jobs[s.Name]); made != triggered+len(rows) {
				t.Errorf("%d triggers and %d instants made %d jobs", triggered, len(rows), made)
			}
			continue
		}
		w.rowsHaveJobs(s, rows, jobs[s.Name])
		w.apart(s, jobs[s.Name])
	}
	alerts, err := store.Alerts(t.Context(), core.AlertQuery{Kind: core.AlertScheduleMissed, Limit: 1000})
	w.must(err)
	late := 0
	for _, a := range alerts {
		if a.Subject == "late" {
			late++
		}
	}
	if late != 1 {
		t.Errorf("the switch of a schedule without a success was raised %d times", late)
	}
}
