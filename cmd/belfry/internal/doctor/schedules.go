package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/client"
)

// schedulesLookedAt is how many schedules doctor looks at, so that it ends soon with however many there are.
const schedulesLookedAt = 20_000

// checkSchedules names the schedules that make no runs though they should: those whose definition cannot be read, and those
// that have been due for long by the store's clock.
func checkSchedules(ctx context.Context, f *findings, api *client.Client, now time.Time) {
	var invalid, overdue []*client.Schedule
	seen := 0
	for s, err := range api.Schedules(ctx, client.ScheduleFilter{}) {
		if err != nil {
			f.broken("schedules", err.Error(), adviceFor(err))
			return
		}
		switch {
		case s.Invalid != "":
			invalid = append(invalid, s)
		case !s.Paused && !s.NextDue.IsZero() && now.Sub(s.NextDue) > dueAllowed:
			overdue = append(overdue, s)
		}
		if seen++; seen == schedulesLookedAt {
			f.leftOut("schedules", fmt.Sprintf("more than the first %d", schedulesLookedAt))
			break
		}
	}
	if len(invalid)+len(overdue) == 0 {
		f.ok("schedules", "all can be read, and none is overdue")
	}
	listed(f, invalid, "cannot be read", func(s *client.Schedule) {
		f.broken("schedule", scheduleName(s)+" makes no runs: "+s.Invalid, "belfry schedules put a good definition, which replaces it and keeps its ledger")
	})
	listed(f, overdue, "are overdue", func(s *client.Schedule) {
		f.broken("schedule", fmt.Sprintf("%s has been due for %s", scheduleName(s), now.Sub(s.NextDue).Round(time.Second)),
			"a tick makes its runs within seconds: if no row above is set apart, start one and look at its log")
	})
}

// listed tells of schedules one by one, and of the rest by their number.
func listed(f *findings, all []*client.Schedule, are string, tell func(s *client.Schedule)) {
	for i, s := range all {
		if i == alertsShown {
			f.broken("schedules", fmt.Sprintf("%d more %s", len(all)-i, are), "belfry schedules list shows all")
			return
		}
		tell(s)
	}
}

// scheduleName is a schedule's name, with its tenant.
func scheduleName(s *client.Schedule) string {
	if s.Tenant == "" {
		return s.Name
	}
	return s.Name + " (tenant " + s.Tenant + ")"
}
