package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Status says where a job is on its way.
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

// Job is a job as it stood when the server answered. Zero fields are those it has not.
type Job struct {
	ID           string
	Type         string
	Payload      json.RawMessage // the bytes that were submitted
	Priority     Priority
	Tenant       string
	RunAt        time.Time
	Status       Status
	Reason       string // why it was cancelled: ReasonCancelled or ReasonExpired; "" otherwise
	CancelWanted bool   // it runs, and its worker is told to stop
	Attempts     int
	MaxAttempts  int
	Snoozes      int // how often its handler asked for a later run; these use no attempt
	Errors       []AttemptError
	Result       json.RawMessage // what its handler answered
	DedupeKey    string
	Timeout      time.Duration
	ExpiresAt    time.Time
	Backoff      []time.Duration
	Target       *Target
	Tags         []string
	WorkerID     string
	LeaseUntil   time.Time
	Schedule     string    // the schedule that made it
	ScheduledFor time.Time // the due instant it runs for; of several, the last
	CatchUp      bool      // made up late
	Covers       int64     // how many due instants it stands for, where more than one
	CoversFrom   time.Time // the first of these
	CreatedAt    time.Time
	StartedAt    time.Time
	FinishedAt   time.Time
	// OutOfRange has what SQL stored for times that RFC 3339 has no form for, by field: {"run_at": "infinity"}. The field itself
	// is then the first or last time that RFC 3339 has.
	OutOfRange map[string]string
	Unreadable string // a value of the row cannot be read, and what the store says of it: Payload is null, Errors and other large values are empty
	Duplicate  bool   // of a submit: the dedupe key was taken, and this is the job that has it
	Abridged   bool   // of a batch: this duplicate came without its payload, errors and target; Get has them

	document []byte
}

// AttemptError is one attempt that was no success.
type AttemptError struct {
	Attempt int       `json:"attempt"`
	At      time.Time `json:"at"`
	Error   string    `json:"error"`
	Kind    string    `json:"kind"`   // error, timeout, panic, lost, permanent or snooze; result: the job is done and its result was lost
	Losses  int       `json:"losses"` // of a lost run: how many in a row were lost with their workers
}

// Document is the job as the server wrote it, byte for byte, fields this version does not know included.
func (j *Job) Document() json.RawMessage { return j.document }

// jobDoc is what the API writes.
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

// MarshalJSON writes the document the server wrote.
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

// readJob reads the answer of a call that answers with a job.
func readJob(call string, body []byte) (*Job, error) {
	var j Job
	if err := json.Unmarshal(body, &j); err != nil || j.ID == "" {
		return nil, foreign(call)
	}
	return &j, nil
}

// foreign is the error of an answer that is not this API's: the address leads somewhere else.
func foreign(call string) error {
	return fmt.Errorf("%s: %w: is the address right?", call, ErrForeign)
}
