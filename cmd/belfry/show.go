package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/client"
)

// showTime is a time in tables, in UTC; "" for none.
func showTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// jobTime is a time of a job, by the name of its field: also one that only SQL can have stored.
func jobTime(j *client.Job, field string, t time.Time) string { return timeOr(j.OutOfRange[field], t) }

// scheduleTime is jobTime of a schedule.
func scheduleTime(s *client.Schedule, field string, t time.Time) string {
	return timeOr(s.OutOfRange[field], t)
}

// timeOr is what a time is that RFC 3339 has no form for, else the time.
func timeOr(outOfRange string, t time.Time) string {
	if outOfRange != "" && !t.IsZero() {
		return outOfRange
	}
	return showTime(t)
}

// printDocument writes one JSON document on a line.
func (a *app) printDocument(document []byte) {
	fmt.Fprintf(a.out, "%s\n", safeJSON(document))
}

// printValue writes a value as JSON.
func (a *app) printValue(v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		a.printDocument(text)
	}
	return err
}

// printChange says what became of a job.
func (a *app) printChange(job *client.Job, what string) {
	if a.json {
		a.printDocument(job.Document())
		return
	}
	fmt.Fprintf(a.out, "job %s %s\n", clean(job.ID), clean(what))
}

// line writes one fact of several, unless there is none.
func (a *app) line(name, value string) {
	if value != "" {
		fmt.Fprintf(a.out, "%-14s%s\n", name, clean(value))
	}
}

// printJob writes all about one job.
func (a *app) printJob(j *client.Job) {
	if a.json {
		a.printDocument(j.Document())
		return
	}
	line := a.line
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
	line("run at", jobTime(j, "run_at", j.RunAt))
	line("attempts", fmt.Sprintf("%d of %d", j.Attempts, j.MaxAttempts))
	if j.Snoozes > 0 {
		line("snoozes", strconv.Itoa(j.Snoozes))
	}
	line("created at", jobTime(j, "created_at", j.CreatedAt))
	line("started at", jobTime(j, "started_at", j.StartedAt))
	line("finished at", jobTime(j, "finished_at", j.FinishedAt))
	line("expires at", jobTime(j, "expires_at", j.ExpiresAt))
	if j.Timeout != 0 {
		line("timeout", j.Timeout.String())
	}
	line("backoff", joined(j.Backoff))
	line("tags", strings.Join(j.Tags, " "))
	if j.Target != nil {
		line("target", j.Target.URL)
	}
	a.printRun(j)
	line("worker", j.WorkerID)
	line("lease until", jobTime(j, "lease_until", j.LeaseUntil))
	line("unreadable", j.Unreadable)
	line("payload", string(j.Payload))
	line("result", string(j.Result))
	for _, e := range j.Errors {
		kind := e.Kind
		if e.Losses > 1 {
			kind = fmt.Sprintf("%s (%d in a row)", kind, e.Losses)
		}
		line("error", fmt.Sprintf("attempt %d, %s, %s: %s", e.Attempt, showTime(e.At), kind, e.Error))
	}
}

// printRun writes what a job of a schedule knows of its instant.
func (a *app) printRun(j *client.Job) {
	a.line("schedule", j.Schedule)
	instant := jobTime(j, "scheduled_for", j.ScheduledFor)
	if j.CatchUp {
		instant += ", made up late"
	}
	a.line("scheduled for", instant)
	if j.Covers > 1 {
		a.line("covers", fmt.Sprintf("%d instants from %s", j.Covers, jobTime(j, "covers_from", j.CoversFrom)))
	}
}

func joined(waits []time.Duration) string {
	texts := make([]string, len(waits))
	for i, wait := range waits {
		texts[i] = wait.String()
	}
	return strings.Join(texts, " ")
}

// jobColumns are those of a list of jobs.
var jobColumns = columns("ID", "STATUS", "TYPE…16", "PRIORITY?", "TENANT…6", "RUN AT", "ATTEMPTS?", "LAST ERROR…10")

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
		j.ID, status, j.Type, string(j.Priority), j.Tenant, jobTime(j, "run_at", j.RunAt),
		strconv.Itoa(j.Attempts) + "/" + strconv.Itoa(j.MaxAttempts), last,
	}
}
