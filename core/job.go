package core

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// NewJob is a job as submitted; see CheckNewJob. Zero fields take the defaults named here.
type NewJob struct {
	Type     string          // names the handler; required
	Payload  json.RawMessage // any JSON, kept byte for byte; nil is stored as {}
	Priority Priority        // zero means Default
	Tenant   string          // "" means no tenant

	RunAt time.Time     // when it may start, to the microsecond; zero means now plus Delay, by the store's clock
	Delay time.Duration // used when RunAt is zero; never negative

	DedupeKey   string        // while a live job of this tenant has this key, submitting again returns that job
	MaxAttempts int           // zero means DefaultMaxAttempts
	Timeout     time.Duration // of one attempt; zero means the worker's default
	ExpiresAt   time.Time     // not started after this; zero means never
	// ExpiresAfter comes from the type or schedule and counts if ExpiresAt is zero: the job is not started later than this
	// after it may first start. Zero means never.
	ExpiresAfter time.Duration
	Backoff      []time.Duration // waits between attempts, the last one repeating; nil means DefaultBackoff
	Target       json.RawMessage // {"url": …, "headers": {…}}; nil means the type's handler
	Tags         []string
	Trace        string // W3C traceparent; "" means none
	Run          *Run   // set for a job that a schedule makes; else nil

	// Queued asks for the row to be written as queued, under a dispatch lease of QueuedLease, because the
	// submitter publishes it itself once this commit has returned. It is ignored for jobs with a future run_at.
	Queued      bool
	QueuedLease time.Duration
	Fence       int64 // the dispatch fence recorded on a row written as queued
}

// Job is one unit of work, as read from its row. A Job is a snapshot: only ports change rows.
type Job struct {
	ID       int64
	Type     string
	Payload  json.RawMessage
	Priority Priority
	Tenant   string
	RunAt    time.Time
	Status   Status

	Attempts    int // attempts charged so far; during a run this one included
	MaxAttempts int
	Snoozes     int

	LeaseToken    int64     // rises whenever an earlier message or holder must become worthless
	LeaseUntil    time.Time // end of the worker's lease (running) or the dispatch lease (queued)
	EndedToken    int64     // token of the last ended attempt; 0 means none has ended
	ClaimID       int64     // of the claim or start that made it running; see ReadClaim
	WorkerID      string
	DispatchFence int64 // lease token of the bucket under which it was last dispatched
	Dispatches    int   // times published since it was last scheduled
	CancelWanted  bool  // set on running jobs only

	DedupeKey string
	Timeout   time.Duration // zero means the worker's default
	ExpiresAt time.Time     // zero means never
	Backoff   []time.Duration
	Target    json.RawMessage
	Tags      []string
	Trace     string
	Bucket    int
	Run       *Run // set for a job that a schedule made; else nil

	Errors []AttemptError  // oldest first, at most MaxErrors
	Result json.RawMessage // of done jobs; nil means none
	Reason string          // why it was cancelled: "cancelled" or "expired"; "" otherwise

	// Unreadable is the store's error if a value of the row cannot be read; "" otherwise. Payload, Target, Backoff, Tags, Run.Covers,
	// Errors and Result are then left empty.
	Unreadable string

	CreatedAt  time.Time
	StartedAt  time.Time // of the last attempt; zero means never started
	FinishedAt time.Time // zero while live
}

// AttemptError is an ended attempt that failed, or succeeded but lost its result.
type AttemptError struct {
	Attempt int       `json:"attempt"`
	At      time.Time `json:"at"`
	Error   string    `json:"error"`          // at most MaxErrorBytes, cut at a rune boundary
	Kind    string    `json:"kind,omitempty"` // "error", "timeout", "panic", "lost", "permanent", "snooze", "result"
	// Losses is, for a lost run, how many runs of the job in a row were lost with their workers, this one included. It
	// becomes 0 when a later run ends normally.
	Losses int `json:"losses,omitempty"`
}

// Bounds on what a row may hold. They keep the hot table small.
const (
	MaxErrors          = 20       // errors kept per job: the last ones
	MaxErrorBytes      = 2 << 10  // bytes of one error text
	MaxPayloadBytes    = 1 << 20  // bytes of a payload
	MaxResultBytes     = 64 << 10 // bytes of a result
	MaxBatch           = 10_000   // jobs of one batch submit
	MaxSnoozes         = 1_000    // snoozes, after which a snooze counts as an error
	DefaultMaxAttempts = 5        // attempts of a job that names none
	Buckets            = 64       // hash partitions of jobs: a job's bucket is id & 63
)

// BucketOf returns the bucket of a job. Ids come from one sequence, so their low bits are evenly spread.
func BucketOf(id int64) int { return int(id & (Buckets - 1)) }

// Kinds of AttemptError.
const (
	KindError     = "error"
	KindTimeout   = "timeout"
	KindPanic     = "panic"
	KindLost      = "lost"
	KindPermanent = "permanent"
	KindSnooze    = "snooze" // a snooze beyond MaxSnoozes
	KindResult    = "result" // of a job that is done: its result was lost
)

// NoAttemptLeft is the error of a job that is due with all its attempts used up. Only a damaged or edited row is.
func NoAttemptLeft(attempts, maxAttempts int, at time.Time) AttemptError {
	return AttemptError{Attempt: attempts, At: at, Error: fmt.Sprintf("%s: %d of %d were used", NoAttemptText, attempts, maxAttempts), Kind: KindError}
}

// NoAttemptText begins its text, in every store.
const NoAttemptText = "no attempt was left when the job was to start"

// Bounds on runs lost in a row.
const (
	SuspectLosses = 2 // losses in a row after which a job is a suspect
	MaxLosses     = 5 // losses in a row with which a job fails for good
)

// Losses counts the job's latest runs in a row that were lost with their workers.
func (j *Job) Losses() int {
	if n := len(j.Errors); n > 0 && j.Errors[n-1].Kind == KindLost {
		return max(j.Errors[n-1].Losses, 0)
	}
	return 0
}

// Suspect reports whether the job may be killing the processes that run it.
func (j *Job) Suspect() bool { return j.Losses() >= SuspectLosses }

// Handler runs jobs of one type. A nil error ends the job as done, with result (JSON or nil) kept on it. An
// error is retried by the job's back-off unless marked by Permanent, RetryAfter or Snooze. ctx ends on
// cancel, on the attempt's timeout, when the lease is lost and when the worker stops; context.Cause says
// which: ErrCancelWanted, ErrTimeout, ErrLeaseLost, ErrStopping.
type Handler interface {
	Work(ctx context.Context, job *Job) (result json.RawMessage, err error)
}

// HandlerFunc makes a function a Handler.
type HandlerFunc func(ctx context.Context, job *Job) (json.RawMessage, error)

// Work calls f.
func (f HandlerFunc) Work(ctx context.Context, job *Job) (json.RawMessage, error) { return f(ctx, job) }

// Handlers maps a type to its handler.
type Handlers map[string]Handler

// Status is a job's state. Stores keep the numbers.
type Status int16

// The six statuses. A job is live while scheduled, queued or running; the other three are ends.
const (
	Scheduled Status = 1 // waits for run_at, for a slot, or for its retry
	Queued    Status = 2 // handed to its priority's queue, not started yet
	Running   Status = 3 // a worker holds its lease
	Done      Status = 4 // succeeded
	Failed    Status = 5 // failed for good: a dead letter
	Cancelled Status = 6 // cancelled by someone, or expired
)

var statusNames = [...]string{Scheduled: "scheduled", Queued: "queued", Running: "running", Done: "done", Failed: "failed", Cancelled: "cancelled"}

// String returns the status's word, the same in SQL, logs, docs and API.
func (s Status) String() string {
	if s >= Scheduled && int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status(%d)", int16(s))
}

// Ended reports whether the job has reached one of its three ends.
func (s Status) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// Live reports whether the job is scheduled, queued or running.
func (s Status) Live() bool { return s == Scheduled || s == Queued || s == Running }

// ParseStatus is the inverse of String. An unknown word is an error that lists the known ones.
func ParseStatus(word string) (Status, error) {
	for s := Scheduled; s <= Cancelled; s++ {
		if statusNames[s] == word {
			return s, nil
		}
	}
	return 0, fmt.Errorf("unknown status %q: want scheduled, queued, running, done, failed or cancelled", word)
}
