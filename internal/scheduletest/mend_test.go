package scheduletest

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
)

// An alert is over with the next success of the schedule, of any run, whatever was done to the schedule meanwhile: long
// before its next instant and the time in which that one is expected to succeed.
func TestAnAlertIsOverWithItsSuccess(t *testing.T) {
	base := core.ScheduleRule{Cron: "0 * * * *", ExpectWithin: core.ScheduleLength(20 * time.Minute)}
	put := func(change func(*core.ScheduleRule)) func(w *world) {
		return func(w *world) {
			rule := base
			change(&rule)
			w.put("s", rule)
		}
	}
	pause := func(w *world) { _, err := w.acts.Pause(w.Context(), "", "s"); w.must(err) }
	resume := func(w *world) { _, err := w.acts.Resume(w.Context(), "", "s"); w.must(err) }
	acts := map[string]func(w *world){
		"nothing": func(*world) {}, "another rule": put(func(r *core.ScheduleRule) { r.Cron = "5 * * * *" }), "another payload": put(func(r *core.ScheduleRule) { r.Payload = []byte(`{"a":1}`) }),
		"a longer time": put(func(r *core.ScheduleRule) { r.ExpectWithin *= 2 }), "an interval": put(func(r *core.ScheduleRule) { r.Cron, r.Every = "", core.ScheduleLength(time.Hour) }),
		"paused": pause, "paused and resumed": func(w *world) { pause(w); w.pass(30, time.Second); resume(w) }, "paused by an edit": put(func(r *core.ScheduleRule) { r.Paused, r.Type = true, "other" }),
	}
	for name, act := range acts {
		for _, run := range []string{"waiting", "triggered"} {
			t.Run(name+", "+run, func(t *testing.T) {
				w := newWorld(t, noon)
				w.put("s", base)
				w.step(time.Hour)
				w.tick()
				if run == "triggered" { // the run of the instant failed for good
					w.fail("work")
				}
				w.step(21 * time.Minute)
				w.tick()
				if w.alerts(core.AlertScheduleMissed, true) != 1 {
					t.Fatal("no alert")
				}
				act(w)
				w.pass(60, time.Second)
				if w.alerts(core.AlertScheduleMissed, true) != 1 {
					t.Fatal("it is over without a success")
				}
				if run == "triggered" {
					_, err := w.acts.Trigger(t.Context(), "", "s")
					w.must(err)
				}
				w.finish("work")
				w.finish("other")
				w.pass(12, time.Second)
				if n := w.alerts(core.AlertScheduleMissed, true); n != 0 {
					t.Errorf("%d open after a success", n)
				}
			})
		}
	}
}

// fail ends all due jobs of a type for good.
func (w *world) fail(typ string) {
	w.Helper()
	w.claims++
	res, err := w.store.ClaimDue(w.Context(), core.ClaimRequest{WorkerID: "w", ClaimID: w.claims, Lease: time.Hour, Quotas: []core.Quota{{Priority: core.Default, Type: typ, Limit: 1000}}})
	w.must(err)
	for _, job := range res.Jobs {
		_, err = w.store.Finish(w.Context(), []core.End{{Ref: core.Ref{ID: job.ID, Token: job.LeaseToken}, Outcome: core.EndFail, Errors: []core.AttemptError{{Attempt: 1, Error: "no", Kind: "permanent"}}}})
		w.must(err)
	}
}

// What the old rule made due and the tick has not met is made up by an edit as the old definition says, and not at all where
// the new one says skip.
func TestAnEditThatSkipsMakesNothingUp(t *testing.T) {
	for _, c := range []struct{ before, after, shape string }{
		{"once", "skip", "skipped:missed×9 fired×1 "}, {"all", "skip", "skipped:missed×9 fired×1 "}, {"skip", "skip", "skipped:missed×9 fired×1 "}, {"skip", "all", "skipped:missed×9 fired×1 "},
		{"once", "all", "covered×8 caught_up×1 fired×1 "}, {"all", "once", "caught_up×9 fired×1 "},
	} {
		t.Run(c.before+" to "+c.after, func(t *testing.T) {
			w := newWorld(t, noon)
			w.put("s", core.ScheduleRule{Cron: "* * * * *", Missed: c.before})
			w.step(10*time.Minute + 5*time.Second)
			w.put("s", core.ScheduleRule{Cron: "30 * * * *", Missed: c.after})
			if got := w.shape("s"); got != c.shape {
				t.Errorf("%s, want %s", got, c.shape)
			}
		})
	}
}

// An interval counts from created_at, or from updated_at once it was changed, to the microsecond, though time passes between
// the plan and the write.
func TestAnIntervalCountsFromItsCreation(t *testing.T) {
	var reads atomic.Int64
	w := newWorldBy(t, func() time.Time { return noon.Add(time.Duration(reads.Add(1)) * 1234567 * time.Microsecond) })
	s := w.put("s", core.ScheduleRule{Every: core.ScheduleLength(90 * time.Second)})
	if !s.State.NextDue.Equal(s.CreatedAt.Add(90 * time.Second)) {
		t.Errorf("made %s, due %s", s.CreatedAt, s.State.NextDue)
	}
	w.step(10 * time.Second)
	s = w.put("s", core.ScheduleRule{Every: core.ScheduleLength(time.Hour)})
	if !s.State.NextDue.Equal(s.UpdatedAt.Add(time.Hour)) {
		t.Errorf("changed %s, due %s", s.UpdatedAt, s.State.NextDue)
	}
}

// inLondon keeps a schedule as it stood when London's clock was one hour ahead of what it is by this program's data, up to accounted.
func (w *world) inLondon(rule core.ScheduleRule, accounted time.Time, mark string) {
	w.Helper()
	rule.TimeZone, rule.Type = "Europe/London", "work"
	_, err := w.store.CreateSchedule(w.Context(), core.Schedule{Name: "s", Rule: rule, State: core.ScheduleState{
		Anchor: accounted, Accounted: accounted, NextDue: accounted.Add(24 * time.Hour), TZData: "of before", ZoneMark: mark,
	}})
	w.must(err)
}

// When the rules of a zone change so that its clock shows an hour again, what ran in that hour does not run again that day.
// noon in March is in winter time: the rules of before had summer time already.
func TestAChangeOfAZonesRulesRepeatsNoLocalTime(t *testing.T) {
	noonBefore := noon.Add(-time.Hour) // 12:00 in London by the rules of before
	mark := func(at time.Time, offset string) string { return fmt.Sprintf("%d%s", at.UnixMicro(), offset) }
	for _, c := range []struct {
		name  string
		rule  core.ScheduleRule
		from  time.Time
		mark  string
		shape string // of a day
	}{
		{"noon has run", core.ScheduleRule{Cron: "0 12 * * *"}, noonBefore, mark(noonBefore, "+3600"), "skipped:dst_overlap×1 fired×1 "},
		{"three times have run", core.ScheduleRule{Cron: "0,20,40 12 * * *"}, noonBefore.Add(40 * time.Minute), mark(noonBefore.Add(40*time.Minute), "+3600"), "skipped:dst_overlap×3 fired×3 "},
		{"one of three has run", core.ScheduleRule{Cron: "0,20,40 12 * * *"}, noonBefore, mark(noonBefore, "+3600"), "skipped:dst_overlap×1 fired×5 "},
		{"both passes are asked for", core.ScheduleRule{Cron: "0 12 * * *", DSTOverlap: "both"}, noonBefore, mark(noonBefore, "+3600"), "skipped:dst_overlap×1 fired×1 "},
		{"the hours go on", core.ScheduleRule{Cron: "0 * * * *"}, noonBefore, mark(noonBefore, "+3600"), "fired×25 "},
		{"the clock is the same", core.ScheduleRule{Cron: "0 12 * * *"}, noonBefore, mark(noonBefore, "+0"), "fired×2 "},
		{"noon has come earlier", core.ScheduleRule{Cron: "0 12 * * *"}, noonBefore, mark(noonBefore, "-3600"), "fired×2 "},
		{"a program without marks was at it since", core.ScheduleRule{Cron: "0 12 * * *"}, noonBefore, mark(noonBefore.Add(-time.Hour), "+3600"), "fired×2 "},
		{"no mark", core.ScheduleRule{Cron: "0 12 * * *"}, noonBefore, "", "fired×2 "},
		{"a mark that is damaged", core.ScheduleRule{Cron: "0 12 * * *"}, noonBefore, "x", "fired×2 "},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.from.Add(10*time.Minute))
			w.inLondon(c.rule, c.from, c.mark)
			for range 26 * 6 {
				w.step(10 * time.Minute)
				if w.now().After(noon.Add(24*time.Hour + 45*time.Minute)) {
					break
				}
				w.tick()
			}
			if got := w.shape("s"); !strings.HasPrefix(c.name, "the hours") && got != c.shape || strings.Contains(got, "overlap") != strings.Contains(c.shape, "overlap") {
				t.Errorf("%s, want %s", got, c.shape)
			}
			seen := map[string]bool{}
			for _, run := range w.runs("s") {
				local := run.Run.ScheduledFor.In(time.FixedZone("", 0)).Format("2006-01-02 15:04")
				if seen[local] {
					t.Errorf("%s ran twice", local)
				}
				seen[local] = true
			}
		})
	}
}

// What is marked is what the clock shows: a schedule that lives on with the same rules has nothing repeated, through both
// changes of the clock in a year.
func TestMarksRepeatNothingByThemselves(t *testing.T) {
	w := newWorld(t, time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC))
	for i, cron := range []string{"30 1 * * *", "0 12 * * *", "0,30 0-3 * * *"} {
		w.put(fmt.Sprint("s", i), core.ScheduleRule{Cron: cron, TimeZone: "Europe/London", Missed: "all"})
	}
	for range 217 * 8 { // past the end of October
		w.step(3 * time.Hour)
		w.tick()
	}
	for i := range 3 {
		w.exact(fmt.Sprint("s", i))
	}
}

// A schedule whose stored rule cannot be read is told by an alert, makes no runs and stops no other. A good definition
// replaces it, and its ledger goes on; so may it be paused, and deleted.
func TestAnUnreadableScheduleIsMended(t *testing.T) {
	start := func(t *testing.T) *world {
		w := newWorld(t, noon)
		_, err := w.store.CreateSchedule(t.Context(), core.Schedule{Name: "s", Rule: core.ScheduleRule{Cron: "* * * * *", TimeZone: "Mars/Olympus", Type: "work", Missed: "all"},
			State: core.ScheduleState{Anchor: noon, Accounted: noon, NextDue: noon.Add(time.Minute), TZData: schedule.TZDataVersion()}})
		w.must(err)
		w.put("other", core.ScheduleRule{Cron: "* * * * *"})
		w.pass(180, time.Second)
		if w.alerts(core.AlertScheduleUnreadable, true) != 1 || w.shape("other") != "fired×3 " || w.shape("s") != "" {
			t.Fatalf("%d alerts, ledgers %q and %q", w.alerts(core.AlertScheduleUnreadable, true), w.shape("other"), w.shape("s"))
		}
		return w
	}
	t.Run("put", func(t *testing.T) {
		w := start(t)
		before, err := w.store.GetSchedule(t.Context(), "", "s")
		w.must(err)
		s := w.put("s", core.ScheduleRule{Cron: "* * * * *", TimeZone: "Europe/Berlin"})
		if s.ID != before.ID || s.Version != before.Version+1 || !s.State.NextDue.Equal(noon.Add(4*time.Minute)) || s.State.Unreadable || w.alerts(core.AlertScheduleUnreadable, true) != 0 {
			t.Errorf("%+v, %d alerts", s, w.alerts(core.AlertScheduleUnreadable, true))
		}
		w.pass(120, time.Second)
		if got := w.shape("s"); got != "fired×2 " {
			t.Error(got)
		}
	})
	t.Run("pause, resume, trigger, backfill", func(t *testing.T) {
		w := start(t)
		s, err := w.acts.Pause(t.Context(), "", "s")
		if w.must(err); !s.Rule.Paused {
			t.Errorf("%+v", s)
		}
		if _, err := w.acts.Resume(t.Context(), "", "s"); !errors.Is(err, schedule.ErrUnreadable) || !strings.Contains(err.Error(), "time_zone: ") {
			t.Errorf("resume: %v", err)
		}
		if _, err := w.acts.Backfill(t.Context(), "", "s", noon.Add(-time.Hour), noon, true); !errors.Is(err, schedule.ErrUnreadable) {
			t.Errorf("backfill: %v", err)
		}
		if _, err := w.acts.Trigger(t.Context(), "", "s"); err != nil { // its jobs are known
			t.Errorf("trigger: %v", err)
		}
	})
	t.Run("delete", func(t *testing.T) {
		w := start(t)
		w.must(w.store.DeleteSchedule(t.Context(), "", "s", 0))
		if w.alerts(core.AlertScheduleUnreadable, true) != 0 {
			t.Error("the alert is open")
		}
	})
}
