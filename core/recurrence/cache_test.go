package recurrence_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/recurrence"
	"github.com/belfry-dev/belfry/core/schedule"
)

// fire makes a schedule come due n times and returns the instants of its runs.
func fire(t *testing.T, s *core.Schedule, o schedule.Options, n int) (fired []time.Time) {
	t.Helper()
	for range n {
		plan, err := schedule.PlanTick(s, core.Success{}, s.State.NextDue, o)
		if err != nil || len(plan.Jobs) != 1 {
			t.Fatalf("after %d firings: %+v, %v", len(fired), plan, err)
		}
		s.State = plan.State
		fired = append(fired, plan.Jobs[0].Run.ScheduledFor)
	}
	return fired
}

// edit gives a schedule another definition.
func edit(t *testing.T, s *core.Schedule, o schedule.Options, now time.Time, change func(*core.ScheduleRule)) {
	t.Helper()
	rule := s.Rule
	change(&rule)
	if err := schedule.Check("", "s", &rule, now); err != nil {
		t.Fatal(err)
	}
	plan, err := schedule.Redefine(s, &rule, now, o)
	if err != nil {
		t.Fatal(err)
	}
	s.Rule, s.State = *plan.Rule, plan.State
}

// TestRulesAreParsedOnce: a rule is parsed once, however often it fires. An edit takes effect at the next firing.
func TestRulesAreParsedOnce(t *testing.T) {
	now := time.Date(2026, 3, 1, 0, 0, 30, 0, time.UTC)
	for name, rule := range map[string]core.ScheduleRule{
		"cron": {Type: "a", Cron: "*/5 * * * *", TimeZone: "Europe/Berlin"}, "every": {Type: "a", Every: core.ScheduleLength(5 * time.Minute)},
	} {
		cache := new(recurrence.Cache)
		o := schedule.Options{Cache: cache}
		if err := schedule.Check("", "s", &rule, now); err != nil {
			t.Fatal(err)
		}
		s := &core.Schedule{Name: "s", Rule: rule}
		var err error
		if s.State, err = schedule.Start(&rule, now, o); err != nil {
			t.Fatal(err)
		}
		if fired := fire(t, s, o, 500); fired[499].Sub(fired[0]) != 499*5*time.Minute || cache.Parsed() != 1 {
			t.Errorf("%s: 500 firings in %s with %d parses, want one parse", name, fired[499].Sub(fired[0]), cache.Parsed())
		}
		edit(t, s, o, s.State.Accounted.Add(time.Second), func(r *core.ScheduleRule) {
			r.Cron, r.TimeZone, r.Every = "30 12 * * *", "Europe/Berlin", 0
		})
		if fired := fire(t, s, o, 1); fired[0].UTC().Format("15:04") != "11:30" || cache.Parsed() != 2 {
			t.Errorf("%s: an edited rule fires at %s, %d parses; want 11:30 and two", name, fired[0], cache.Parsed())
		}
		edit(t, s, o, s.State.Accounted.Add(time.Second), func(r *core.ScheduleRule) { r.TimeZone = "Asia/Tokyo" })
		if fired := fire(t, s, o, 1); fired[0].UTC().Format("15:04") != "03:30" || cache.Parsed() != 2 {
			t.Errorf("%s: with another zone it fires at %s, %d parses; want 03:30 and two", name, fired[0], cache.Parsed())
		}
	}
}

// TestKeptRulesFollowTheZoneData: a result from another time zone database is computed again, even if the rule's text is
// cached.
func TestKeptRulesFollowTheZoneData(t *testing.T) {
	now := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	cache := new(recurrence.Cache)
	o, rule := schedule.Options{Cache: cache}, core.ScheduleRule{Type: "a", Cron: "30 12 * * *", TimeZone: "Europe/Berlin"}
	state, err := schedule.Start(&rule, now, o)
	if err != nil {
		t.Fatal(err)
	}
	right := state.NextDue
	state.NextDue, state.TZData = right.Add(time.Hour), "1999z"
	step := schedule.Recompute(&core.Schedule{Name: "s", Rule: rule, State: state}, now, o)
	if !step.State.NextDue.Equal(right) || step.State.TZData != recurrence.TZDataVersion() || cache.Parsed() != 1 {
		t.Errorf("next due %s by %s, %d parses; want %s", step.State.NextDue, step.State.TZData, cache.Parsed(), right)
	}
}

// TestKeptRulesAreBounded: the cache is bounded and keeps no invalid expressions.
func TestKeptRulesAreBounded(t *testing.T) {
	cache := new(recurrence.Cache)
	parse := func(text string) error {
		_, err := recurrence.Parse(text, "UTC", recurrence.Options{Cache: cache})
		return err
	}
	for i := range 12_000 {
		text := fmt.Sprintf("%d %d %d * * *", i%60, i/60%60, i/3600%24)
		if i%10 == 0 {
			text = "0" + strings.Repeat(",0", 400) + text[strings.Index(text, " "):]
			text = strings.Replace(text, ",0", fmt.Sprintf(",%d", i/10%60), 1)
		}
		if err := parse(text); err != nil {
			t.Fatal(text, err)
		}
		if texts, bytes := cache.Kept(); bytes > recurrence.MaxKept || texts*512 > bytes {
			t.Fatalf("%d texts, %d bytes after %d", texts, bytes, i)
		}
	}
	before, _ := cache.Kept()
	parsed := cache.Parsed()
	for range 2 {
		if parse("61 * * * *") == nil {
			t.Fatal("a wrong rule is accepted")
		}
	}
	if after, _ := cache.Kept(); after != before || cache.Parsed() != parsed+2 {
		t.Errorf("%d texts after a wrong one, %d before", after, before)
	}
}
