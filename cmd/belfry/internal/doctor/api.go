package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

const (
	skewAllowed = 5 * time.Second
	dueAllowed  = time.Minute
	oldSnapshot = 5 * time.Minute
)

// checkAPI asks the API, and returns its statistics; nil where it did not answer with them. An error is one of the command
// line.
func checkAPI(ctx context.Context, a *console.App, f *findings) (*client.Stats, error) {
	api, err := a.ClientThat(client.Retry{Tries: 2, MaxWait: time.Second, Timeout: 10 * time.Second}) // a server that is out of order is what is looked for
	if err != nil {
		return nil, err
	}
	if err := api.Ready(ctx); err != nil {
		advice := adviceFor(err)
		if p := (*client.Problem)(nil); errors.As(err, &p) && (p.Status == http.StatusNotFound || p.Status == http.StatusUnprocessableEntity) {
			advice = cmp.Or(a.BelowPath(), advice) // readiness has no parameters that could be wrong
		}
		f.broken("api", err.Error(), advice)
		return nil, nil
	}
	f.ok("api", "%s can accept jobs", a.Address)
	if err := checkAccess(ctx, a, f); err != nil {
		return nil, err
	}
	asked := a.Now()
	s, err := api.Stats(ctx)
	if err != nil {
		f.broken("statistics", err.Error(), adviceFor(err))
		return nil, nil
	}
	checkClock(a, f, "clock", s.Now, asked.Add(-time.Second)) // the answer is up to a second old
	checkMode(f, s)
	whole, err := seesAll(ctx, api)
	if err != nil {
		f.broken("token", err.Error(), adviceFor(err))
		return s, nil
	}
	if whole {
		checkWorkers(f, s)
	}
	checkWork(f, s, whole)
	if whole {
		checkApart(f, s)
	}
	checkSchedules(ctx, f, api, s.Now)
	checkAlerts(ctx, f, api)
	return s, nil
}

// checkMode says how the workers of this server get their jobs.
func checkMode(f *findings, s *client.Stats) {
	switch s.Mode {
	case client.ModeQueues:
		f.ok("mode", "workers are fed through queues")
	case client.ModeDirect:
		f.ok("mode", "workers claim from the table")
	}
}

// alertsShown is how many open alerts are told one by one.
const alertsShown = 10

// checkAlerts lists the alerts that are open.
func checkAlerts(ctx context.Context, f *findings, api *client.Client) {
	open := 0
	for alert, err := range api.Alerts(ctx, client.AlertFilter{Open: true}) {
		if err != nil {
			f.broken("alerts", err.Error(), adviceFor(err))
			return
		}
		if open++; open <= alertsShown {
			f.warn("alert", alertText(alert), adviceOn(alert))
		}
	}
	switch {
	case open == 0:
		f.ok("alerts", "none is open")
	case open > alertsShown:
		f.warn("alerts", fmt.Sprintf("%d more are open", open-alertsShown), "belfry alerts list --limit 0 shows all")
	}
}

// alertText is an alert as one line.
func alertText(alert *client.Alert) string {
	text := alert.Kind + " " + alert.Subject
	if alert.Tenant != "" {
		text += " (tenant " + alert.Tenant + ")"
	}
	return text + ", since " + console.ShowTime(alert.RaisedAt) + ": " + alert.Detail
}

// adviceOn says where to look on.
func adviceOn(alert *client.Alert) string {
	switch {
	case alert.Kind == "schedule_unreadable":
		return "belfry schedules put a good definition, which replaces it and keeps its ledger"
	case strings.HasPrefix(alert.Kind, "schedule_"):
		return "belfry schedules occurrences shows what became of its runs; it clears with the next success"
	case alert.Kind == "job_failed":
		return "belfry dead-letters list shows why its jobs failed; redrive or discard them"
	case alert.Kind == "type_missed":
		return "belfry jobs list --type shows its jobs; it clears with the next success"
	}
	return "belfry alerts list shows it"
}

// unhandledTypes names the types that no worker handles, those with most jobs first.
func unhandledTypes(s *client.Stats) string {
	types := slices.DeleteFunc(slices.Clone(s.Types), func(t client.TypeStats) bool { return t.Unhandled == 0 })
	if len(types) == 0 {
		return ""
	}
	slices.SortStableFunc(types, func(a, b client.TypeStats) int { return cmp.Compare(b.Unhandled, a.Unhandled) })
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = fmt.Sprintf("%s (%s)", t.Type, console.Count(t.Unhandled, s.Capped))
	}
	return ": " + some(names)
}

// checkWorkers says how many processes run jobs. None is no fault by itself: functions say that they do only while they do.
func checkWorkers(f *findings, s *client.Stats) {
	if s.Workers == 0 {
		f.leftOut("workers", "none has said within 90s that it runs jobs; functions say so only while they work")
		return
	}
	alive := map[bool]string{true: "1 is", false: strconv.Itoa(s.Workers) + " are"}[s.Workers == 1] + " alive"
	u := s.Slots
	switch full := func(used, of int) bool { return of > 0 && used*10 >= of*9 }; {
	case full(u.Deliveries, u.ForDeliveries):
		f.warn("workers", fmt.Sprintf("%s; %d of %d slots for deliveries are in use", alive, u.Deliveries, u.ForDeliveries),
			"targets answer too slowly, or not at all: belfry jobs list --status running shows to whom; BELFRY_WEBHOOK_ANSWER_TIMEOUT, …_PER_TENANT and …_PER_HOST bound what they hold")
	case full(u.Busy, u.All):
		f.warn("workers", fmt.Sprintf("%s; %d of %d slots are in use", alive, u.Busy, u.All), "start more workers, or give them more slots (BELFRY_WORKERS)")
	case u.ForDeliveries > 0:
		f.ok("workers", "%s; %d of %d slots are in use, %d of %d for deliveries", alive, u.Busy, u.All, u.Deliveries, u.ForDeliveries)
	default:
		f.ok("workers", "%s; %d of %d slots are in use", alive, u.Busy, u.All)
	}
}

// seesAll reports whether the token is for all tenants: one that is for one is told of its own jobs and dead letters
// only, and of the rest nothing that would look like trouble.
func seesAll(ctx context.Context, api *client.Client) (bool, error) {
	for _, err := range api.ListTypes(ctx) {
		if errors.Is(err, client.ErrForbidden) {
			return false, nil
		}
		return err == nil, err
	}
	return true, nil
}

// notVisible is what is said of checks that a tenant's token cannot make.
const notVisible = "not visible with this token, which is for one tenant"

func adviceFor(err error) string {
	switch {
	case errors.Is(err, client.ErrAccess):
		return "give a token that may read, as --token or BELFRY_TOKEN"
	case errors.As(err, new(*client.Problem)):
		return "the API runs but its store does not serve it: look at the API's log, and run doctor with --database-url"
	}
	return "start the API, or say where it is: --url or BELFRY_URL"
}

// checkClock holds a reading of the store's clock against this machine's, between asked and now.
func checkClock(a *console.App, f *findings, check string, store, asked time.Time) {
	skew := time.Duration(0)
	switch answered := a.Now(); {
	case store.After(answered):
		skew = store.Sub(answered)
	case store.Before(asked):
		skew = store.Sub(asked)
	}
	if skew.Abs() <= skewAllowed {
		f.ok(check, "the store's and this machine's agree within %s", skewAllowed)
		return
	}
	f.warn(check, fmt.Sprintf("the store's is %s %s this machine's", skew.Abs().Round(time.Second), map[bool]string{true: "ahead of", false: "behind"}[skew > 0]),
		"Belfry goes by the store's clock. Set both by NTP, and prefer delay to run_at where clocks cannot be trusted")
}

// checkApart names rows that raise an error.
func checkApart(f *findings, s *client.Stats) {
	if s.SetApartRows == 0 {
		f.ok("rows", "none raises an error")
	}
	for i, row := range s.SetApart {
		if i == alertsShown {
			break
		}
		if strings.HasPrefix(row.Row, "damaged ") {
			f.broken("row", fmt.Sprintf("%s (%s), since %s: %s", row.Row, row.Act, console.ShowTime(row.Since), row.Error), "mend the row (docs/damaged-rows.md)")
			continue
		}
		f.broken("row", fmt.Sprintf("%s raises an error (%s), since %s: %s", row.Row, row.Act, console.ShowTime(row.Since), row.Error),
			"mend the row, or what refuses it: it is set apart so that it stops no other, and met again within 5 minutes by itself (docs/damaged-rows.md)")
	}
	if n := s.SetApartRows - min(len(s.SetApart), alertsShown); n > 0 {
		f.broken("rows", fmt.Sprintf("%d more rows are damaged or raise an error", n), "mend these first")
	}
}

// checkWork looks at what waits and what hangs, as far as a token for all tenants is given, or for one.
func checkWork(f *findings, s *client.Stats, whole bool) {
	if !whole {
		f.leftOut("stuck", notVisible)
	} else if s.Stuck > 0 {
		f.broken("stuck", "running under a lease that has passed: "+console.Numbered(s.Stuck, "job"),
			"a tick takes them back within seconds: if the number stays, look at the rows that raise an error, if any are named here; else no tick runs, so start one and look at its log")
	} else {
		f.ok("stuck", "no running job is without a lease")
	}
	var late []string
	for _, q := range s.Queues {
		if d, err := time.ParseDuration(q.OldestDue); err == nil && d > dueAllowed {
			late = append(late, fmt.Sprintf("%s %s", q.Priority, d.Round(time.Second)))
		}
	}
	if len(late) > 0 {
		f.warn("late", "due jobs wait: "+strings.Join(late, ", "), "start workers, or more of them; with unhandled types below, start those that handle them")
	} else {
		f.ok("late", "no job has been due for more than %s", dueAllowed)
	}
	if !whole {
		f.leftOut("unhandled", notVisible)
	} else if s.Unhandled > 0 {
		f.warn("unhandled", fmt.Sprintf("%s due, of types that no worker handles%s", console.Numbered(s.Unhandled, "job"), unhandledTypes(s)), "start a worker with a handler for each type, or cancel the jobs")
	} else {
		f.ok("unhandled", "every due job's type has a worker")
	}
	if s.DeadLetters > 0 {
		f.warn("dead letters", console.Count(s.DeadLetters, s.Capped)+" wait to be looked at", "belfry dead-letters list shows why they failed; redrive or discard them")
	} else {
		f.ok("dead letters", "none")
	}
	if d, err := time.ParseDuration(s.OldestSnapshot); err == nil && d > oldSnapshot {
		f.warn("snapshot", "the oldest open one in the database is "+d.Round(time.Second).String()+" old",
			"it keeps dead rows from being cleared, and slows everything down: end that transaction; --database-url names it")
	}
	if s.HistoryOverflow > 0 {
		f.warn("history", fmt.Sprintf("%s finished on days without a partition", console.Numbered(s.HistoryOverflow, "job")), "a running tick makes partitions ahead and moves these: look at its log")
	}
}
