package core

import (
	"context"
	"time"
)

// The ports, all on this page. A store keeps rows; a queue carries references to them. Every method is
// atomic unless it says otherwise, may be called concurrently, and returns sentinels of errors.go.
// "Now" is always the store's clock. No method leaves a transaction open across a round trip.

// Store is everything one database does for Belfry. Each caller takes the part it needs.
type Store interface {
	SubmitStore
	JobStore
	TickStore
	WorkStore
	StatsStore
	Close() error
}

// SubmitStore accepts jobs.
type SubmitStore interface {
	// Submit writes all jobs in one transaction and returns when it is durable; item i answers job i.
	// A job whose dedupe key a live job of its tenant holds is not written: its Existing is that job, as
	// committed (a key held by an open transaction is waited for, at most a lock timeout, then ErrBusy).
	// Of equal keys within one call the first is written. Never deadlocks with another Submit.
	Submit(ctx context.Context, jobs []NewJob) ([]Submitted, error)
}

// Submitted is the answer for one job.
type Submitted struct {
	ID        int64
	RunAt     time.Time
	CreatedAt time.Time
	Status    Status // Scheduled, or Queued when NewJob.Queued was granted
	Token     int64  // the row's lease token, for the message of a queued row
	Existing  *Job   // the live job that holds the dedupe key; the other fields are then that job's
}

// JobStore reads single jobs and changes them at an operator's word. A job is looked for in all tables at
// once, and again while it may be moving between them; ErrNotFound means absent everywhere.
type JobStore interface {
	Get(ctx context.Context, id int64) (Job, error)
	// List returns up to q.Limit jobs, newest id first.
	List(ctx context.Context, q ListQuery) ([]Job, error)
	// Ended returns the status of those ids that have ended; one statement for all, for ?wait=.
	Ended(ctx context.Context, ids []int64) (map[int64]Status, error)
	// Cancel: scheduled and queued become cancelled (token + 1); on running cancel_wanted is set; an ended
	// job is a *ConflictError. The answer is the job as it now stands. Repeating it on a running job is fine.
	Cancel(ctx context.Context, id int64) (Job, error)
	// Reschedule gives a scheduled or queued job a new run_at (queued: back to scheduled, token + 1); else *ConflictError.
	Reschedule(ctx context.Context, id int64, when When) (Job, error)
	// Retry puts a dead letter back: scheduled now, attempts and snoozes 0, expires_at cleared, token + 1.
	// Not failed, or its dedupe key taken: *ConflictError.
	Retry(ctx context.Context, id int64) (Job, error)
	// Redrive retries up to limit dead letters that match, oldest first; one that conflicts is reported and left.
	Redrive(ctx context.Context, q DeadQuery, limit int) ([]Redriven, error)
	// Discard deletes up to limit dead letters that match and says how many.
	Discard(ctx context.Context, q DeadQuery, limit int) (int, error)
	// CountDead counts the dead letters that match.
	CountDead(ctx context.Context, q DeadQuery) (int, error)
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
	RunAfter  time.Time // run_at ≥
	RunBefore time.Time // run_at <
	Before    int64     // ids below this; 0 means from the newest
	Limit     int       // 1 … 1,000
}

// DeadQuery selects dead letters. Zero fields do not restrict.
type DeadQuery struct {
	Type   string
	Tenant *string
	IDs    []int64
	Before time.Time // failed before
}

// Redriven is the answer for one dead letter: Err is nil or a *ConflictError.
type Redriven struct {
	ID  int64
	Err error
}

// TickStore is what one pass of the scheduler needs. In direct mode a Tick of an idle store is one transaction.
type TickStore interface {
	// Tick, pipelined in one transaction: renews the holder's bucket leases and takes those that have run out
	// or were released; lists running jobs whose lease has passed; cancels waiting jobs whose expires_at has
	// passed; publishes again queued rows whose dispatch lease has passed (same token, lease doubled; rows that
	// an unclean former holder queued are due at once); marks due rows queued by the quotas. Without a queue it
	// returns to scheduled what one had been given. These act
	// on held buckets only, under a lock of their lease rows: a holder deposed meanwhile changes no row.
	Tick(ctx context.Context, req TickRequest) (TickResult, error)
	// ReleaseLeases gives the holder's leases up as clean: what it queued is published and need not be again.
	ReleaseLeases(ctx context.Context, holder string) error
	// Undispatch makes the dispatch lease of these queued rows pass now: their Send failed or is unknown.
	Undispatch(ctx context.Context, refs []Ref) error
	// Maintain makes partitions ahead, drops those past retention, merges rollups of past minutes. Safe to
	// call from many processes at once; never waits long for a lock.
	Maintain(ctx context.Context, req MaintainRequest) (MaintainResult, error)
}

// TickRequest says who ticks and what for.
type TickRequest struct {
	Holder      string        // names the scheduler instance
	LeaseLength time.Duration // of bucket leases; zero means 4 s
	ReapLimit   int           // lost jobs listed at most
	ReapAfter   int64         // lost jobs are listed by id, above this one: a full list is followed by its next page
	ExpireLimit int           // jobs expired at most
	Dispatch    bool          // queue mode: republish and claim
	Quotas      []Quota       // queue mode: what may be marked queued
	Recall      bool          // direct mode: queued rows whose dispatch lease has passed return to scheduled (token + 1)
	// DispatchLease is the first dispatch lease; it doubles with each publishing up to DispatchLeaseMax.
	DispatchLease, DispatchLeaseMax time.Duration
	RepublishLimit                  int
}

// TickResult says what the tick found and did.
type TickResult struct {
	Now        time.Time
	Held       []Held               // buckets held now
	Lost       []Job                // running, lease passed: decide, then Finish with End.Lost set
	Expired    int                  // jobs cancelled as expired
	Dispatched []Job                // to publish, in this order; payload left out
	Taken      []Taken              // one per quota
	Waiting    []Lane               // one per (priority, type) with scheduled rows, unhandled types left out: when its first is due
	Queued     [len(Priorities)]int // queue mode: rows queued per priority (index: priority - 1) before this tick's quotas; capped at CountCap
	Released   bool                 // reserved leases were lost since the last tick (another holder took them)
}

// Held is one bucket lease: its token fences every dispatch made under it.
type Held struct {
	Bucket int
	Token  int64
}

// Lane is the waiting rows of one priority and type.
type Lane struct {
	Priority Priority
	Type     string
	DueIn    time.Duration // until its first row is due; ≤ 0 means due
}

// Quota is a share of a claim for one lane. With PerTenant zero rows come in order of run_at; else tenant by
// tenant, at most PerTenant each, beginning after tenant TenantAfter and wrapping, so that none starves.
type Quota struct {
	Priority    Priority
	Type        string
	Limit       int
	After       Mark // rows at or before it are skipped; the zero Mark means the full range
	PerTenant   int
	TenantAfter string
}

// Mark is a place in a lane's order.
type Mark struct {
	RunAt time.Time
	ID    int64
}

// Taken answers one quota.
type Taken struct {
	N          int    // rows claimed, refused ones included
	Last       Mark   // of the last row taken without a tenant, in run_at order; zero when none
	LastTenant string // with PerTenant: the last tenant visited
	Wrapped    bool   // with PerTenant: all tenants with waiting rows were visited
	Tenants    bool   // rows with a tenant were among those taken
}

// MaintainRequest carries the retention settings.
type MaintainRequest struct {
	HistoryRetention time.Duration // zero means keep for ever
	DeadRetention    time.Duration // zero means keep for ever
	DaysAhead        int           // history partitions kept ready; zero means 8
}

// MaintainResult says what was done.
type MaintainResult struct {
	PartitionsMade, PartitionsDropped int
	DeadDropped, RollupsMerged        int
	Overflow                          int // rows in the overflow history: some day had no partition
}

// WorkStore is what workers need.
type WorkStore interface {
	// ClaimDue (direct mode) makes due rows of the quotas running: attempts + 1, token + 1, under lease.
	// Rows that may not run (expired, attempts used up) are ended instead, never returned, counted in Taken.
	ClaimDue(ctx context.Context, req ClaimRequest) (ClaimResult, error)
	// Start (queue mode) makes queued rows running whose token is equal, as ClaimDue does. Rows that do not
	// come back are stale: their messages are worthless. A row locked by another is not waited for: Busy.
	Start(ctx context.Context, refs []Ref, req ClaimRequest) (StartResult, error)
	// ReadClaim returns the running rows that carry this claim id: for a ClaimDue or Start whose answer was lost.
	ReadClaim(ctx context.Context, claimID int64) ([]Job, error)
	// Unhandled returns queued rows to scheduled (token + 1, no attempt) because no handler is here, and marks
	// their types unhandled for 30 s, doubling to 5 min, until a process announces them.
	Unhandled(ctx context.Context, refs []Ref) error
	// Announce says that this process handles the types; it clears their unhandled marks.
	Announce(ctx context.Context, types []string) error
	// Heartbeat extends the leases of running rows whose token is equal. Answer i is for beat i.
	Heartbeat(ctx context.Context, beats []Ref, lease time.Duration) ([]Beat, error)
	// Finish ends attempts; answer i is for end i. Rows locked by another are done apart, singly, under a short
	// lock timeout; those come back Busy and may be sent again. An end that repeats the row's ended token gets
	// the first answer and changes nothing.
	Finish(ctx context.Context, ends []End) ([]EndAnswer, error)
	// AddRollups adds counts to the minute rows of this shard.
	AddRollups(ctx context.Context, shard int, rows []Rollup) error
}

// Ref points at one row under one token.
type Ref struct {
	ID    int64
	Token int64
}

// ClaimRequest says who claims and on what terms.
type ClaimRequest struct {
	WorkerID string
	ClaimID  int64 // fresh for every call
	Lease    time.Duration
	Quotas   []Quota // ClaimDue only
}

// ClaimResult answers ClaimDue.
type ClaimResult struct {
	Now   time.Time
	Jobs  []Job
	Taken []Taken       // one per quota
	DueIn time.Duration // until the next row of the quotas' lanes is due, at most an hour; 0 when the limits were reached
}

// StartResult answers Start.
type StartResult struct {
	Now  time.Time
	Jobs []Job
	Busy []Ref
}

// Beat answers one heartbeat. Neither flag set: extended.
type Beat struct {
	Stale        bool // the token is no longer current: stop the handler
	Busy         bool // locked by another: not extended, try again
	CancelWanted bool
}

// Outcome is how an attempt ended.
type Outcome int8

// The outcomes. Where cancel is wanted each but EndDone becomes cancelled, decided in the write itself.
const (
	EndDone     Outcome = 1 // → done
	EndFail     Outcome = 2 // → failed: permanent, or attempts used up
	EndRetry    Outcome = 3 // → scheduled at now + Wait, token + 1
	EndSnooze   Outcome = 4 // the same, the attempt not counted, snoozes + 1
	EndHandBack Outcome = 5 // the same, the attempt not counted
)

// End is the end of one attempt.
type End struct {
	Ref
	Outcome Outcome
	Wait    time.Duration  // EndRetry, EndSnooze, EndHandBack
	Errors  []AttemptError // the row's whole error history from now on (EndFail, EndRetry, EndSnooze)
	Result  []byte         // EndDone: JSON or nil
	Lost    bool           // by the reaper: applies only while the row's lease has passed
}

// EndAnswer answers one End.
type EndAnswer struct {
	Status Status // the row's status now; 0 when Stale or Busy
	Stale  bool   // the token is not current and did not end this way before: nothing changed
	Busy   bool   // locked by another: nothing changed, try again
	Repeat bool   // this end was recorded before
}

// Rollup counts one minute of one priority and type.
type Rollup struct {
	Minute                                                  time.Time
	Priority                                                Priority
	Type                                                    string
	Starts, Done, Failed, Retried, Cancelled, Lost, Snoozed int64
	Lag                                                     [LagBuckets]int64 // histogram of schedule lag, bounds in LagBounds
	LagSum                                                  int64             // microseconds; of one start at most MaxLagCounted
}

// StatsStore answers questions about the whole.
type StatsStore interface {
	// Stats counts; counts of live rows stop at CountCap.
	Stats(ctx context.Context, since time.Duration) (Stats, error)
	// Ping reports whether the store can accept jobs: reachable, writable, schema known.
	Ping(ctx context.Context) error
	// Now is the store's clock.
	Now(ctx context.Context) (time.Time, error)
}

// CountCap bounds every count of live rows.
const CountCap = 100_000

// Stats is the whole in numbers.
type Stats struct {
	Now             time.Time
	Queues          []QueueStats
	Rollups         []Rollup      // per (priority, type), summed over the period asked for; Minute is its start
	Totals          []Rollup      // the same since the first job ever: what counters in /metrics need
	DeadLetters     int           // capped at CountCap
	Stuck           int           // running with the lease passed
	Unhandled       int           // waiting, due, of a type no process announced; capped
	OldestSnapshot  time.Duration // age of the oldest open snapshot in the database; 0 when not known
	HistoryOverflow int
}

// QueueStats is one priority's live rows.
type QueueStats struct {
	Priority                        Priority
	Scheduled, Due, Queued, Running int           // capped at CountCap each
	OldestDue                       time.Duration // how long the oldest due row has been due
}

// Topic publishes messages of one priority.
type Topic interface {
	// Send publishes all; it returns one error per message, nil where it is known to be published. An error
	// means unknown, never not sent.
	Send(ctx context.Context, msgs []Message) []error
	Close(ctx context.Context) error
}

// Subscription receives messages of one priority. After an error other than the end of ctx it is dead: Close it
// and open another. Several opened of one priority share its messages.
type Subscription interface {
	// Receive waits for at least one delivery, then returns up to max that are at hand.
	Receive(ctx context.Context, max int) ([]Delivery, error)
	Close(ctx context.Context) error
}

// Delivery is one message in a consumer's hands. Exactly one of Ack and Release ends it.
type Delivery interface {
	Body() []byte
	Ack(ctx context.Context) error
	// Release gives it back to be delivered again after about d; queues that cannot delay do so at once or at
	// their own visibility timeout.
	Release(ctx context.Context, d time.Duration) error
	// Extend prolongs its visibility timeout to d from now. ErrCannotExtend where the queue has none.
	Extend(ctx context.Context, d time.Duration) error
}

// Queue opens the topics and subscriptions of all priorities.
type Queue interface {
	OpenTopic(ctx context.Context, p Priority) (Topic, error)
	OpenSubscription(ctx context.Context, p Priority) (Subscription, error)
}
