package scheduletest

import (
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/typecache"
)

// While workers are away and the tick is not, missed makes nothing up and skips nothing: the runs wait. With expires_after
// those that have grown stale are cancelled, and only fresh ones are taken, whether the schedule or the type says so.
func TestRunsThatNobodyStartsExpire(t *testing.T) {
	const after = core.ScheduleLength(5 * time.Second)
	for _, c := range []struct {
		name    string
		rule    core.ScheduleRule
		typ     time.Duration
		started int
	}{
		{"none", core.ScheduleRule{}, 0, 40},
		{"the schedule's", core.ScheduleRule{ExpiresAfter: after}, 0, 5},
		{"the type's", core.ScheduleRule{}, time.Duration(after), 5},
		{"both", core.ScheduleRule{ExpiresAfter: 2 * after}, time.Duration(after), 10},
	} {
		for _, missed := range []string{"all", "once", "skip"} {
			t.Run(c.name+", missed "+missed, func(t *testing.T) {
				w := newWorld(t, noon)
				types := typecache.New(w.store, typecache.Options{})
				_, _, err := types.PutType(t.Context(), core.JobType{Name: "work", ExpiresAfter: c.typ})
				w.must(err)
				w.must(types.Refresh(t.Context()))
				w.ticker, err = tick.New(w.store, tick.Options{Holder: "a", MaintainPeriod: 1000 * time.Hour, Schedules: schedule.Options{Types: types}})
				w.must(err)
				rule := c.rule
				rule.Every, rule.Missed = core.ScheduleLength(time.Second), missed
				w.put("s", rule)
				for range 40 {
					w.step(time.Second)
					w.tick()
				}
				if got := w.shape("s"); got != "fired×40 " {
					t.Fatalf("the ledger: %s", got)
				}
				if got := len(w.take("work")); got != c.started {
					t.Errorf("%d runs started, want %d", got, c.started)
				}
				w.step(time.Second)
				w.tick()
				expired := 0
				for _, run := range w.runs("s") {
					if run.Status == core.Cancelled && run.Reason == "expired" {
						expired++
					}
				}
				if expired != 40-c.started {
					t.Errorf("%d runs expired, want %d", expired, 40-c.started)
				}
			})
		}
	}
}

// A run that is made up late counts from when it was made, else it would be cancelled before it could start.
func TestARunMadeUpLateExpiresLater(t *testing.T) {
	w := newWorld(t, noon)
	w.put("s", core.ScheduleRule{Cron: "* * * * *", Missed: "once", ExpiresAfter: core.ScheduleLength(10 * time.Second)})
	w.tick()
	w.step(10*time.Minute + 40*time.Second)
	w.tick()
	runs := w.take("work")
	if len(runs) != 1 || !runs[0].Run.CatchUp || !runs[0].ExpiresAt.Equal(w.now().Add(10*time.Second)) {
		t.Errorf("%+v", runs)
	}
}
