package console

import (
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/client"
)

// ShowTime is a time in tables, in UTC; "" for none.
func ShowTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// JobTime is a time of a job, by the name of its field: also one that only SQL can have stored.
func JobTime(j *client.Job, field string, t time.Time) string { return timeOr(j.OutOfRange[field], t) }

// ScheduleTime is JobTime of a schedule.
func ScheduleTime(s *client.Schedule, field string, t time.Time) string {
	return timeOr(s.OutOfRange[field], t)
}

// timeOr is what a time is that RFC 3339 has no form for, else the time.
func timeOr(outOfRange string, t time.Time) string {
	if outOfRange != "" && !t.IsZero() {
		return outOfRange
	}
	return ShowTime(t)
}

// PrintDocument writes one JSON document on a line.
func (a *App) PrintDocument(document []byte) {
	fmt.Fprintf(a.Out, "%s\n", safeJSON(document))
}

// PrintValue writes a value as JSON.
func (a *App) PrintValue(v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		a.PrintDocument(text)
	}
	return err
}

// PrintChange says what became of a job.
func (a *App) PrintChange(job *client.Job, what string) {
	if a.JSON {
		a.PrintDocument(job.Document())
		return
	}
	fmt.Fprintf(a.Out, "job %s %s\n", Clean(job.ID), Clean(what))
}

// Line writes one fact of several, unless there is none.
func (a *App) Line(name, value string) {
	if value != "" {
		fmt.Fprintf(a.Out, "%-14s%s\n", name, Clean(value))
	}
}

// PrintJob writes all about one job.
func (a *App) PrintJob(j *client.Job) {
	if a.JSON {
		a.PrintDocument(j.Document())
		return
	}
	line := a.Line
	status := string(j.Status)
	if j.CancelWanted {
		status += ", cancel wanted"
	}
	if j.Reason != "" && j.Reason != status {
		status += ", " + j.Reason
	}
	line("id", j.ID)
	line("status", status)
	line("type", j.Type)
	line("priority", string(j.Priority))
	line("tenant", j.Tenant)
	line("dedupe key", j.DedupeKey)
	line("run at", JobTime(j, "run_at", j.RunAt))
	line("attempts", fmt.Sprintf("%d of %d", j.Attempts, j.MaxAttempts))
	if j.Snoozes > 0 {
		line("snoozes", strconv.Itoa(j.Snoozes))
	}
	line("created at", JobTime(j, "created_at", j.CreatedAt))
	line("started at", JobTime(j, "started_at", j.StartedAt))
	line("finished at", JobTime(j, "finished_at", j.FinishedAt))
	line("expires at", JobTime(j, "expires_at", j.ExpiresAt))
	if j.Timeout != 0 {
		line("timeout", j.Timeout.String())
	}
	line("backoff", Joined(j.Backoff))
	line("tags", strings.Join(j.Tags, " "))
	if j.Target != nil {
		line("target", j.Target.URL)
	}
	a.printRun(j)
	line("worker", j.WorkerID)
	line("lease until", JobTime(j, "lease_until", j.LeaseUntil))
	line("unreadable", j.Unreadable)
	line("payload", string(j.Payload))
	line("result", string(j.Result))
	for _, e := range j.Errors {
		kind := e.Kind
		if e.Losses > 1 {
			kind = fmt.Sprintf("%s (%d in a row)", kind, e.Losses)
		}
		line("error", fmt.Sprintf("attempt %d, %s, %s: %s", e.Attempt, ShowTime(e.At), kind, e.Error))
	}
}

// printRun writes what a job of a schedule knows of its instant.
func (a *App) printRun(j *client.Job) {
	a.Line("schedule", j.Schedule)
	instant := JobTime(j, "scheduled_for", j.ScheduledFor)
	if j.CatchUp {
		instant += ", made up late"
	}
	a.Line("scheduled for", instant)
	if j.Covers > 1 {
		a.Line("covers", fmt.Sprintf("%d instants from %s", j.Covers, JobTime(j, "covers_from", j.CoversFrom)))
	}
}

// Joined writes durations with spaces between them.
func Joined(waits []time.Duration) string {
	texts := make([]string, len(waits))
	for i, wait := range waits {
		texts[i] = wait.String()
	}
	return strings.Join(texts, " ")
}

// jobColumns are those of a list of jobs.
var jobColumns = Columns("ID", "STATUS", "TYPE…16", "PRIORITY?", "TENANT…6", "RUN AT", "ATTEMPTS?", "LAST ERROR…10")

func jobRow(j *client.Job) []string {
	last := ""
	if n := len(j.Errors); n > 0 {
		last = j.Errors[n-1].Error
	}
	status := string(j.Status)
	if j.Reason == client.ReasonExpired {
		status += ", " + j.Reason
	}
	return []string{
		j.ID, status, j.Type, string(j.Priority), j.Tenant, JobTime(j, "run_at", j.RunAt),
		strconv.Itoa(j.Attempts) + "/" + strconv.Itoa(j.MaxAttempts), last,
	}
}

// PrintJobs writes up to limit jobs of a list (0: all).
func (a *App) PrintJobs(list iter.Seq2[*client.Job, error], limit int) error {
	return Listing[*client.Job]{Columns: jobColumns, Row: jobRow, Document: (*client.Job).Document, None: "no jobs"}.Show(a, list, limit)
}
