package core

import "time"

// Submitted is the answer for one job.
type Submitted struct {
	ID        int64
	RunAt     time.Time
	CreatedAt time.Time
	Status    Status // Scheduled, or Queued when NewJob.Queued was granted
	Token     int64  // the row's lease token, for the message of a queued row
	// Existing is the live job that holds the dedupe key; the other fields are then that job's. If several jobs are
	// submitted at once, Existing lacks a payload of more than MaxBriefBytes: thousands of short keys could name more
	// payload than fits into memory.
	Existing *Job
}

// MaxBriefBytes bounds what the answer to a batch says about each duplicate.
const MaxBriefBytes = 4 << 10

// IdempotencyKey names one call of one holder, so that a repeated call changes nothing.
type IdempotencyKey struct {
	Holder string        // whose key it is: a token's id, "" for calls without one
	Key    string        // 1 to MaxIdempotencyKeyBytes
	Hash   [32]byte      // SHA-256 of the request
	Keep   time.Duration // how long the answer is kept
}

// MaxIdempotencyKeyBytes bounds an idempotency key.
const MaxIdempotencyKeyBytes = 255

// Answer is the answer to a call, stored so that a repeated call gets it too.
type Answer struct {
	Status int // of HTTP
	Body   []byte
}

// Once is the outcome of SubmitOnce.
type Once struct {
	Answer   Answer
	Replayed bool        // the answer is an earlier call's: nothing was written
	Jobs     []Submitted // what was written; nil when Replayed
	Kept     *KeptJob    // when Replayed, in place of Answer if SubmitOnceEach wrote it
}

// OnceCall is one call of SubmitOnceEach.
type OnceCall struct {
	Key IdempotencyKey
	Job NewJob // without a dedupe key
}

// OnceAnswer answers one OnceCall. Unless it is Replayed, Jobs is what was written. Err is this call's own error:
// ErrKeyReused or ErrKeyInFlight.
type OnceAnswer struct {
	Once
	Err error
}

// Page is one page of a list.
type Page struct {
	Jobs []Job
	Next int64 // the Before of the next page; 0 means that this was the last
}

// PageOf makes the page of the jobs that a query with limit found. A full page has a next one.
func PageOf(jobs []Job, limit int) Page {
	p := Page{Jobs: jobs}
	if n := len(jobs); n > 0 && n >= limit {
		p.Next = jobs[n-1].ID
	}
	return p
}

// Size is how many bytes of payload, result, target and errors a job has.
func (j *Job) Size() int {
	size := len(j.Payload) + len(j.Result) + len(j.Target)
	for i := range j.Errors {
		size += len(j.Errors[i].Error)
	}
	return size
}

// Pace spreads the run_at of jobs that are put back: row i gets From + i × Every.
type Pace struct {
	From  time.Time     // zero and a past time mean now
	Every time.Duration // zero means all at once
}

// DeadGroup is a group of dead letters of one type with the same error. Texts that differ only in numbers, ids or addresses
// are one group.
type DeadGroup struct {
	Type        string
	Group       string // 16 hexadecimal digits; see ErrorGroup
	Error       string // the newest one's last error
	Count       int    // among the CountCap dead letters looked at
	First, Last time.Time
}

// When is a new run_at: an instant, or a delay from the store's now when At is zero.
type When struct {
	At    time.Time
	Delay time.Duration
}

// ListQuery selects jobs. Zero fields do not restrict.
type ListQuery struct {
	Statuses  []Status
	Type      string
	Tenant    *string
	Priority  Priority
	Tag       string
	Schedule  string    // the name of the schedule that made it
	RunAfter  time.Time // run_at ≥
	RunBefore time.Time // run_at <
	Before    int64     // ids below this; 0 means from the newest
	Limit     int       // 1 … 1,000
	Bytes     int       // a page ends with the job by which the sizes of its jobs come to this. 0 means with none

	Group        string    // dead letters only: DeadGroup.Group
	FailedBefore time.Time // dead letters only: finished_at <
}

// DeadQuery selects dead letters. Zero fields do not restrict.
type DeadQuery struct {
	Type   string
	Tenant *string
	IDs    []int64
	Before time.Time // failed before
	Group  string    // DeadGroup.Group
	After  int64     // ids above this: earlier calls have handled the others
}

// Redriven is the answer for one dead letter. Err is nil, a *ConflictError, ErrBusy if an open transaction holds its dedupe
// key, or ErrRow if it raises an error.
type Redriven struct {
	ID    int64
	RunAt time.Time // when it is due now; zero when Err is set
	Err   error
}

// Discarded is the answer of Discard.
type Discarded struct {
	N     int     // how many are deleted
	Left  []int64 // those that raise an error, and stay
	After int64   // the highest id that was gone through: a further call goes on behind it. Zero means none
}
