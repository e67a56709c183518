package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Status is a job's state.
type Status string

// The six statuses. A job is live while scheduled, queued or running; the other three are ends.
const (
	Scheduled Status = "scheduled"
	Queued    Status = "queued"
	Running   Status = "running"
	Done      Status = "done"
	Failed    Status = "failed" // for good: a dead letter
	Cancelled Status = "cancelled"
)

// Why a job was cancelled: Job.Reason.
const (
	ReasonCancelled = "cancelled" // by a call, or by its schedule
	ReasonExpired   = "expired"   // its ExpiresAt passed before it started
)

// Ended reports whether the job has reached one of its three ends.
func (s Status) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// Job is a job at the time of the server's answer. A zero field means that the job has none.
type Job struct {
	ID           string
	Type         string
	Payload      json.RawMessage // the bytes that were submitted
	Priority     Priority
	Tenant       string
	RunAt        time.Time
	Status       Status
	Reason       string // why it was cancelled: ReasonCancelled or ReasonExpired; "" otherwise
	CancelWanted bool   // it runs and its worker has to stop it
	Attempts     int
	MaxAttempts  int
	Snoozes      int // how often its handler asked for a later run; this uses no attempt
	Errors       []AttemptError
	Result       json.RawMessage // its handler's result
	DedupeKey    string
	Timeout      time.Duration
	ExpiresAt    time.Time
	Backoff      []time.Duration
	Target       *Target
	Tags         []string
	WorkerID     string
	LeaseUntil   time.Time
	Schedule     string    // the schedule that made it
	ScheduledFor time.Time // the due instant that it runs for; the last one if there are several
	CatchUp      bool      // made up late
	Covers       int64     // how many due instants it covers, if more than one
	CoversFrom   time.Time // the first of these
	CreatedAt    time.Time
	StartedAt    time.Time
	FinishedAt   time.Time
	// OutOfRange has the times stored by SQL that RFC 3339 cannot express, by field: {"run_at": "infinity"}. The field
	// itself is then the first or last time of RFC 3339.
	OutOfRange map[string]string
	Unreadable string // the store's error if a value of the row cannot be read: then Payload is null, and Errors and other large values are empty
	Duplicate  bool   // after a submit: the dedupe key was taken, and this is the job that has it
	Abridged   bool   // in a batch: this duplicate lacks its payload, errors and target; Get returns them

	document []byte
}

// AttemptError is a failed attempt.
type AttemptError struct {
	Attempt int       `json:"attempt"`
	At      time.Time `json:"at"`
	Error   string    `json:"error"`
	Kind    string    `json:"kind"`   // error, timeout, panic, lost, permanent or snooze; result: the job is done and its result was lost
	Losses  int       `json:"losses"` // of a lost run: how many in a row were lost with their workers
}

// Document returns the job as the server wrote it, byte for byte, including fields that this version does not know.
func (j *Job) Document() json.RawMessage { return j.document }

// jobDoc is the API's form of a job.
type jobDoc struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Payload      json.RawMessage `json:"payload"`
	Priority     Priority        `json:"priority"`
	Tenant       string          `json:"tenant"`
	RunAt        time.Time       `json:"run_at"`
	Status       Status          `json:"status"`
	Reason       string          `json:"reason"`
	CancelWanted bool            `json:"cancel_wanted"`
	Attempts     int             `json:"attempts"`
	MaxAttempts  int             `json:"max_attempts"`
	Snoozes      int             `json:"snoozes"`
	Errors       []AttemptError  `json:"errors"`
	Result       json.RawMessage `json:"result"`
	DedupeKey    string          `json:"dedupe_key"`
	Timeout      string          `json:"timeout"`
	ExpiresAt    time.Time       `json:"expires_at"`
	Backoff      []string        `json:"backoff"`
	Target       *Target         `json:"target"`
	Tags         []string        `json:"tags"`
	WorkerID     string          `json:"worker_id"`
	LeaseUntil   time.Time       `json:"lease_until"`
	Schedule     string          `json:"schedule"`
	ScheduledFor time.Time       `json:"scheduled_for"`
	CatchUp      bool            `json:"catch_up"`
	Covers       int64           `json:"covers"`
	CoversFrom   time.Time       `json:"covers_from"`
	CreatedAt    time.Time       `json:"created_at"`
	StartedAt    time.Time       `json:"started_at"`
	FinishedAt   time.Time       `json:"finished_at"`

	OutOfRange map[string]string `json:"out_of_range"`
	Unreadable string            `json:"unreadable"`
	Duplicate  bool              `json:"duplicate"`
	Abridged   bool              `json:"abridged"`
}

// UnmarshalJSON reads a job document.
func (j *Job) UnmarshalJSON(document []byte) error {
	var d jobDoc
	if err := json.Unmarshal(document, &d); err != nil {
		return err
	}
	timeout, err := readDuration(d.Timeout)
	if err != nil {
		return err
	}
	backoff, err := readDurations(d.Backoff)
	if err != nil {
		return err
	}
	*j = Job{
		ID: d.ID, Type: d.Type, Payload: d.Payload, Priority: d.Priority, Tenant: d.Tenant, RunAt: d.RunAt, Status: d.Status,
		Reason: d.Reason, CancelWanted: d.CancelWanted, Attempts: d.Attempts, MaxAttempts: d.MaxAttempts, Snoozes: d.Snoozes, Errors: d.Errors, Result: d.Result,
		DedupeKey: d.DedupeKey, Timeout: timeout, Backoff: backoff, ExpiresAt: d.ExpiresAt, Target: d.Target, Tags: d.Tags, WorkerID: d.WorkerID,
		Schedule: d.Schedule, ScheduledFor: d.ScheduledFor, CatchUp: d.CatchUp, Covers: d.Covers, CoversFrom: d.CoversFrom,
		LeaseUntil: d.LeaseUntil, CreatedAt: d.CreatedAt, StartedAt: d.StartedAt, FinishedAt: d.FinishedAt, OutOfRange: d.OutOfRange, Unreadable: d.Unreadable, Duplicate: d.Duplicate, Abridged: d.Abridged,
		document: bytes.Clone(document),
	}
	return nil
}

// MarshalJSON returns the document that the server wrote.
func (j *Job) MarshalJSON() ([]byte, error) {
	if j.document == nil {
		return []byte("null"), nil
	}
	return j.document, nil
}

func readDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("the server wrote a duration that is none: %q", text)
	}
	return d, nil
}

func readDurations(texts []string) ([]time.Duration, error) {
	var waits []time.Duration
	for _, text := range texts {
		wait, err := readDuration(text)
		if err != nil {
			return nil, err
		}
		waits = append(waits, wait)
	}
	return waits, nil
}

// readJob reads an answer that is a job.
func readJob(call string, body []byte) (*Job, error) {
	var j Job
	if err := json.Unmarshal(body, &j); err != nil || j.ID == "" {
		return nil, foreign(call)
	}
	return &j, nil
}

// foreign returns the error for an answer that is not this API's: the address belongs to something else.
func foreign(call string) error {
	return fmt.Errorf("%s: %w: is the address right?", call, ErrForeign)
}
