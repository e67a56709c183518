package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func scheduleScenarios() []scenario {
	return []scenario{
		{"CreateSchedule/keeps what it is given, once per tenant and name", scheduleRoundTrip},
		{"CreateSchedule/keeps when it was made, where that is said", scheduleCreatedAt},
		{"GetSchedule/a definition that is damaged is a fault of its own, and another one replaces it", scheduleDamaged},
		{"ListSchedules/pages by tenant and name, and every filter keeps its own", scheduleList},
		{"DeleteSchedule/only at its version, with its ledger, and jobs stay", scheduleDelete},
		{"DeleteSchedule/leaves no ledger of a step that was written at the same time", deleteRace},
		{"CancelRuns/cancels what waits, asks what runs to stop, leaves the rest", cancelRuns},
		{"AdvanceSchedules/moves state, jobs and ledger together", advanceWhole},
		{"AdvanceSchedules/a step from another state or version is stale and does nothing", advanceStale},
		{"AdvanceSchedules/of many at once exactly one wins", advanceRace},
		{"AdvanceSchedules/outside its fence is stale", advanceFence},
		{"AdvanceSchedules/passes over a schedule with an active run where it must not have one", advanceInactive},
		{"AdvanceSchedules/a run that waited is attached to its ledger row", advanceAttach},
		{"AdvanceSchedules/alerts go with their step", advanceAlerts},
		{"Tick/lists schedules that need to be advanced, in held buckets, and says when the next one does", tickSchedules},
		{"Tick/a run that waits is listed once no run is active", tickWaitingRun},
		{"Tick/looks at schedules whose run waits page by page", tickWaitingPages},
		{"Occurrences/newest first, in pages", occurrencePages},
		{"Maintain/drops ledger rows past their retention", ledgerRetention},
		{"Succeeded/finds the newest instant that was done", succeededNewest},
		{"RaiseAlerts/raises once, clears once, and both may be repeated", alertsOnce},
		{"WatchTypes/raises once when no job was done for so long, and clears with the next success", typeOverdue},
		{"WatchTypes/remembers a success whose minute is no longer kept", typeRemembered},
		{"WatchTypes/another length or none clears the alert, the same one goes on", typeRewatched},
		{"WatchTypes/of many at once raises once", typeWatchRace},
		{"Alerts/events wait until they were published as they stand", alertsUnsent},
	}
}

// instant is a fixed due instant, n minutes on.
func instant(n int) time.Time {
	return time.Date(2026, 3, 1, 12, n, 0, 123_456_000, time.UTC)
}

// newSchedule keeps a schedule that is due at instant(0).
func (s *stage) newSchedule(rule core.ScheduleRule) core.Schedule {
	s.Helper()
	rule.Type = cmp.Or(rule.Type, s.newType())
	kept, err := s.store.CreateSchedule(s.ctx, core.Schedule{
		Name: fmt.Sprintf("schedule-%d", s.number()), Rule: rule,
		State: core.ScheduleState{Anchor: instant(-1), Accounted: instant(-1), NextDue: instant(0), TZData: "2026a"},
	})
	s.must(err)
	return kept
}

// schedule reads one again.
func (s *stage) schedule(of core.Schedule) core.Schedule {
	s.Helper()
	got, err := s.store.GetSchedule(s.ctx, of.Tenant, of.Name)
	s.must(err)
	return got
}

func scheduleRoundTrip(s *stage) {
	rule := core.ScheduleRule{
		Cron: "*/5 * * * *", TimeZone: "Europe/Berlin", DSTGap: "shift", StartsAt: instant(1), Missed: "all", MissedWindow: core.ScheduleLength(time.Hour),
		MissedLimit: 7, Overlap: core.OverlapSkip, Jitter: core.ScheduleLength(time.Second), ExpectWithin: core.ScheduleLength(time.Minute), ExpiresAfter: core.ScheduleLength(time.Hour),
		Type: "mail.send", Payload: []byte(`{ "a" : 1e5 }`), Priority: "critical", MaxAttempts: 3, Tags: []string{"x"},
		Backoff: []core.ScheduleLength{core.ScheduleLength(time.Second)}, Target: []byte(`{"url":"https://example.com"}`),
	}
	given := core.Schedule{Tenant: "a", Name: `über "nightly"/50%`, Rule: rule, State: core.ScheduleState{
		Anchor: instant(0), Accounted: instant(1), NextDue: instant(2), PausedAt: instant(3), TZData: "2026a", ExpectBy: instant(4), Expected: instant(2), ZoneMark: "1+3600",
	}}
	kept, err := s.store.CreateSchedule(s.ctx, given)
	s.must(err)
	if kept.ID == 0 || kept.Version != 1 || kept.CreatedAt.IsZero() || !kept.UpdatedAt.Equal(kept.CreatedAt) {
		s.Errorf("kept %+v", kept)
	}
	got := s.schedule(kept)
	want := kept
	if !reflect.DeepEqual(got.Rule, rule) || !reflect.DeepEqual(got.State, given.State) {
		s.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := s.store.CreateSchedule(s.ctx, given); !errors.Is(err, core.ErrConflict) {
		s.Errorf("the same name again: %v", err)
	}
	given.Tenant = "b"
	other, err := s.store.CreateSchedule(s.ctx, given)
	s.must(err)
	if other.ID == kept.ID {
		s.Error("two tenants share one schedule")
	}
	if _, err := s.store.GetSchedule(s.ctx, "c", given.Name); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("another tenant's name: %v", err)
	}
}

func scheduleList(s *stage) {
	var want []string
	for _, tenant := range []string{"", "a", "b"} {
		for i := range 5 {
			rule := core.ScheduleRule{Type: []string{"x", "y"}[i%2], Paused: i == 4, Payload: []byte(`"0123"`)}
			_, err := s.store.CreateSchedule(s.ctx, core.Schedule{Tenant: tenant, Name: fmt.Sprintf("n%d", i), Rule: rule,
				State: core.ScheduleState{Anchor: instant(0), Accounted: instant(0), TZData: []string{"2026a", "2026b"}[i%2]}})
			s.must(err)
			want = append(want, tenant+"/"+rule.Type+"/"+fmt.Sprint(i))
		}
	}
	var few []string // 15 bytes of payloads at a time: three schedules
	for q := (core.ScheduleQuery{Limit: 100, Bytes: 15}); ; {
		page, err := s.store.ListSchedules(s.ctx, q)
		s.must(err)
		if len(page) == 0 || len(page) > 3 {
			break
		}
		for _, one := range page {
			few = append(few, one.Tenant+"/"+one.Rule.Type+"/"+one.Name[1:])
			q.AfterTenant, q.AfterName = one.Tenant, one.Name
		}
	}
	if !slices.Equal(few, want) {
		s.Errorf("by bytes: got  %v\nwant %v", few, want)
	}
	var got []string
	for q := (core.ScheduleQuery{Limit: 4}); ; {
		page, err := s.store.ListSchedules(s.ctx, q)
		s.must(err)
		for _, one := range page {
			got = append(got, one.Tenant+"/"+one.Rule.Type+"/"+one.Name[1:])
			q.AfterTenant, q.AfterName = one.Tenant, one.Name
		}
		if len(page) < q.Limit {
			break
		}
	}
	if !slices.Equal(got, want) {
		s.Errorf("got  %v\nwant %v", got, want)
	}
	tenant, paused := "a", true
	for name, c := range map[string]struct {
		q core.ScheduleQuery
		n int
	}{
		"tenant": {core.ScheduleQuery{Tenant: &tenant}, 5}, "type": {core.ScheduleQuery{Type: "y"}, 6}, "paused": {core.ScheduleQuery{Paused: &paused}, 3},
		"time zone data": {core.ScheduleQuery{TZDataNot: "2026a"}, 6}, "no tenant": {core.ScheduleQuery{Tenant: new(string)}, 5},
	} {
		c.q.Limit = 100
		list, err := s.store.ListSchedules(s.ctx, c.q)
		s.must(err)
		if len(list) != c.n {
			s.Errorf("%s: %d schedules, want %d", name, len(list), c.n)
		}
	}
}

func scheduleDelete(s *stage) {
	of := s.newSchedule(core.ScheduleRule{})
	made := s.step(fired(of, 0))
	if err := s.store.DeleteSchedule(s.ctx, "", of.Name, of.Version+1); !errors.Is(err, core.ErrStale) {
		s.Errorf("at another version: %v", err)
	}
	s.must(s.store.DeleteSchedule(s.ctx, "", of.Name, of.Version))
	if err := s.store.DeleteSchedule(s.ctx, "", of.Name, 0); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("again: %v", err)
	}
	if rows := s.ledger(of); len(rows) != 0 {
		s.Errorf("its ledger stays: %+v", rows)
	}
	if job := s.get(made.JobIDs[0]); job.Status != core.Scheduled {
		s.Errorf("its job is %s", job.Status)
	}
}
