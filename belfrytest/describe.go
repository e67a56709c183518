package belfrytest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	maxDescribed = 20  // maximum jobs in one failure text
	maxPayload   = 200 // maximum bytes of a payload
)

// describe describes a job: its fields, its state, and how its attempts ended.
func (e *Engine) describe(job core.Job) string {
	var text strings.Builder
	fmt.Fprintf(&text, "  job %d %q: %s, attempt %d of %d", job.ID, job.Type, job.Status, job.Attempts, job.MaxAttempts)
	switch {
	case job.Status == core.Scheduled:
		fmt.Fprintf(&text, ", due %s", e.relative(job.RunAt))
		if e.handlers[job.Type] == nil {
			text.WriteString(", and no handler is registered for its type")
		}
	case job.Status.Ended():
		fmt.Fprintf(&text, ", ended %s", e.relative(job.FinishedAt))
	case job.CancelWanted:
		text.WriteString(", cancel wanted")
	}
	if job.Reason != "" {
		fmt.Fprintf(&text, " (%s)", job.Reason)
	}
	if job.Snoozes > 0 {
		fmt.Fprintf(&text, ", snoozed %d times", job.Snoozes)
	}
	fmt.Fprintf(&text, "\n    payload %s\n", shorten(string(job.Payload)))
	for _, failed := range job.Errors {
		first, _, _ := strings.Cut(failed.Error, "\n")
		fmt.Fprintf(&text, "    attempt %d %s: %s: %s\n", failed.Attempt, e.relative(failed.At), failed.Kind, first)
	}
	return text.String()
}

// relative writes an instant relative to the clock.
func (e *Engine) relative(at time.Time) string {
	switch d := at.Sub(e.Now()); {
	case d > 0:
		return "in " + d.String()
	case d < 0:
		return (-d).String() + " ago"
	}
	return "now"
}

func shorten(text string) string {
	if len(text) <= maxPayload {
		return text
	}
	return strings.ToValidUTF8(text[:maxPayload], "") + fmt.Sprintf("… (%d bytes)", len(text))
}

// describeAll describes several jobs.
func (e *Engine) describeAll(jobs []core.Job) string {
	var text strings.Builder
	for _, job := range jobs[:min(len(jobs), maxDescribed)] {
		text.WriteString(e.describe(job))
	}
	if more := len(jobs) - maxDescribed; more > 0 {
		fmt.Fprintf(&text, "  and %d more\n", more)
	}
	return text.String()
}

// describeLive describes the live jobs, running ones first.
func (e *Engine) describeLive() string {
	e.t.Helper()
	live := e.list(core.ListQuery{Statuses: []core.Status{core.Scheduled, core.Queued, core.Running}})
	slices.SortStableFunc(live, func(a, b core.Job) int { return int(b.Status) - int(a.Status) })
	return e.describeAll(live)
}

// describeMisses describes the submitted jobs of the type, and for each the matches that fail.
func (e *Engine) describeMisses(jobType string, match []Match) string {
	e.t.Helper()
	jobs := e.list(core.ListQuery{Type: jobType})
	if len(jobs) == 0 {
		jobs = e.list(core.ListQuery{})
		if len(jobs) == 0 {
			return "  nothing was submitted"
		}
		return "submitted of other types:\n" + e.describeAll(jobs)
	}
	var text strings.Builder
	text.WriteString("submitted of that type:\n")
	for _, job := range jobs[:min(len(jobs), maxDescribed)] {
		fmt.Fprintf(&text, "%s    not%s\n", e.describe(job), texts(unmet(job, match)))
	}
	if more := len(jobs) - maxDescribed; more > 0 {
		fmt.Fprintf(&text, "  and %d more\n", more)
	}
	return text.String()
}

// describeHandlers describes the handlers that have not returned.
func (g *claimGate) describeHandlers() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var lines []string
	for a := range g.handlers {
		lines = append(lines, fmt.Sprintf("  job %d %q, attempt %d of %d\n", a.job.ID, a.job.Type, a.job.Attempts, a.job.MaxAttempts))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
