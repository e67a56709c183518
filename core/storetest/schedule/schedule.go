package schedule

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func Scenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "CreateSchedule/keeps what it is given, once per tenant and name", Run: scheduleRoundTrip},
		{Name: "CreateSchedule/keeps when it was made, where that is said", Run: scheduleCreatedAt},
		{Name: "GetSchedule/a definition that is damaged is a fault of its own, and another one replaces it", Run: scheduleDamaged},
		{Name: "ListSchedules/pages by tenant and name, and every filter keeps its own", Run: scheduleList},
		{Name: "DeleteSchedule/only at its version, with its ledger, and jobs stay", Run: scheduleDelete},
		{Name: "DeleteSchedule/leaves no ledger of a step that was written at the same time", Run: deleteRace},
		{Name: "CancelRuns/cancels what waits, asks what runs to stop, leaves the rest", Run: cancelRuns},
		{Name: "AdvanceSchedules/moves state, jobs and ledger together", Run: advanceWhole},
		{Name: "AdvanceSchedules/a step from another state or version is stale and does nothing", Run: advanceStale},
		{Name: "AdvanceSchedules/exactly one of many at once wins", Run: advanceRace},
		{Name: "AdvanceSchedules/outside its fence is stale", Run: advanceFence},
		{Name: "AdvanceSchedules/passes over a schedule with an active run where it must not have one", Run: advanceInactive},
		{Name: "AdvanceSchedules/a run that waited is attached to its ledger row", Run: advanceAttach},
		{Name: "AdvanceSchedules/alerts go with their step", Run: advanceAlerts},
		{Name: "Tick/lists schedules that need to be advanced, in held buckets, and says when the next one does", Run: tickSchedules},
		{Name: "Tick/a run that waits is listed once no run is active", Run: tickWaitingRun},
		{Name: "Tick/looks at schedules whose run waits page by page", Run: tickWaitingPages},
		{Name: "Occurrences/newest first, in pages", Run: occurrencePages},
		{Name: "Maintain/drops ledger rows past their retention", Run: ledgerRetention},
		{Name: "Succeeded/finds the newest instant that was done", Run: succeededNewest},
		{Name: "RaiseAlerts/raises once, clears once, and both may be repeated", Run: alertsOnce},
		{Name: "WatchTypes/raises once when no job was done for so long, and clears with the next success", Run: typeOverdue},
		{Name: "WatchTypes/remembers a success whose minute is no longer kept", Run: typeRemembered},
		{Name: "WatchTypes/another length or none clears the alert, the same one goes on", Run: typeRewatched},
		{Name: "WatchTypes/many at once raise once", Run: typeWatchRace},
		{Name: "Alerts/events wait until they were published as they stand", Run: alertsUnsent},
	}
}

func scheduleRoundTrip(s *storetest.Stage) {
	rule := core.ScheduleRule{
		Cron: "*/5 * * * *", TimeZone: "Europe/Berlin", DSTGap: "shift", StartsAt: storetest.Instant(1), Missed: "all", MissedWindow: core.ScheduleLength(time.Hour),
		MissedLimit: 7, Overlap: core.OverlapSkip, Jitter: core.ScheduleLength(time.Second), ExpectWithin: core.ScheduleLength(time.Minute), ExpiresAfter: core.ScheduleLength(time.Hour),
		Type: "mail.send", Payload: []byte(`{ "a" : 1e5 }`), Priority: "critical", MaxAttempts: 3, Tags: []string{"x"},
		Backoff: []core.ScheduleLength{core.ScheduleLength(time.Second)}, Target: []byte(`{"url":"https://example.com"}`),
	}
	given := core.Schedule{Tenant: "a", Name: `über "nightly"/50%`, Rule: rule, State: core.ScheduleState{
		Anchor: storetest.Instant(0), Accounted: storetest.Instant(1), NextDue: storetest.Instant(2), PausedAt: storetest.Instant(3), TZData: "2026a", ExpectBy: storetest.Instant(4), Expected: storetest.Instant(2), ZoneMark: "1+3600",
	}}
	kept, err := s.Store.CreateSchedule(s.Ctx, given)
	s.Must(err)
	if kept.ID == 0 || kept.Version != 1 || kept.CreatedAt.IsZero() || !kept.UpdatedAt.Equal(kept.CreatedAt) {
		s.Errorf("kept %+v", kept)
	}
	got := s.Schedule(kept)
	want := kept
	if !reflect.DeepEqual(got.Rule, rule) || !reflect.DeepEqual(got.State, given.State) {
		s.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := s.Store.CreateSchedule(s.Ctx, given); !errors.Is(err, core.ErrConflict) {
		s.Errorf("the same name again: %v", err)
	}
	given.Tenant = "b"
	other, err := s.Store.CreateSchedule(s.Ctx, given)
	s.Must(err)
	if other.ID == kept.ID {
		s.Error("two tenants share one schedule")
	}
	if _, err := s.Store.GetSchedule(s.Ctx, "c", given.Name); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("another tenant's name: %v", err)
	}
}

func scheduleList(s *storetest.Stage) {
	var want []string
	for _, tenant := range []string{"", "a", "b"} {
		for i := range 5 {
			rule := core.ScheduleRule{Type: []string{"x", "y"}[i%2], Paused: i == 4, Payload: []byte(`"0123"`)}
			_, err := s.Store.CreateSchedule(s.Ctx, core.Schedule{Tenant: tenant, Name: fmt.Sprintf("n%d", i), Rule: rule,
				State: core.ScheduleState{Anchor: storetest.Instant(0), Accounted: storetest.Instant(0), TZData: []string{"2026a", "2026b"}[i%2]}})
			s.Must(err)
			want = append(want, tenant+"/"+rule.Type+"/"+fmt.Sprint(i))
		}
	}
	var few []string // 15 bytes of payloads per page: three schedules
	for q := (core.ScheduleQuery{Limit: 100, Bytes: 15}); ; {
		page, err := s.Store.ListSchedules(s.Ctx, q)
		s.Must(err)
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
		page, err := s.Store.ListSchedules(s.Ctx, q)
		s.Must(err)
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
		list, err := s.Store.ListSchedules(s.Ctx, c.q)
		s.Must(err)
		if len(list) != c.n {
			s.Errorf("%s: %d schedules, want %d", name, len(list), c.n)
		}
	}
}

func scheduleDelete(s *storetest.Stage) {
	of := s.NewSchedule(core.ScheduleRule{})
	made := s.Step(storetest.Fired(of, 0))
	if err := s.Store.DeleteSchedule(s.Ctx, "", of.Name, of.Version+1); !errors.Is(err, core.ErrStale) {
		s.Errorf("at another version: %v", err)
	}
	s.Must(s.Store.DeleteSchedule(s.Ctx, "", of.Name, of.Version))
	if err := s.Store.DeleteSchedule(s.Ctx, "", of.Name, 0); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("again: %v", err)
	}
	if rows := ledger(s, of); len(rows) != 0 {
		s.Errorf("its ledger stays: %+v", rows)
	}
	if job := s.Get(made.JobIDs[0]); job.Status != core.Scheduled {
		s.Errorf("its job is %s", job.Status)
	}
}
