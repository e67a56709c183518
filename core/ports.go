package core

import (
	"context"
	"time"
)

// The ports, all on this page. A store keeps rows; a queue carries references to them. Every method is
// atomic unless it says otherwise, may be called concurrently, and returns sentinels of errors.go.
// "Now" is always the store's clock. No method but SubmitOnce leaves a transaction open
// across a round trip.
//
// A row that raises an error (damaged, a number at its maximum, refused by a trigger) stops no other row. Tick, ClaimDue,
// Start and Heartbeat set it apart (SetApart) and go on without it. A method that is given such a row changes nothing and
// returns ErrRow; the caller then tries the rows in halves.

// Store is everything that a database does for Belfry. Each caller uses the part it needs.
type Store interface {
	SubmitStore
	JobStore
	TickStore
	WorkStore
	StatsStore
	TypeStore
	AccessStore
	QueuedStore
	ScheduleStore
	InstallationStore
	Close() error
}

// SubmitStore accepts jobs.
type SubmitStore interface {
	// Submit writes all jobs in one transaction and returns when it is durable; item i answers job i. A job whose dedupe key
	// a live job of its tenant holds is not written: its Existing is that job, as committed (if an open transaction holds
	// the key, Submit waits for at most a lock timeout, then returns ErrBusy). If jobs of one call have equal keys, only the
	// first is written. Two Submits never deadlock.
	Submit(ctx context.Context, jobs []NewJob) ([]Submitted, error)
	// SubmitOnce is Submit under an idempotency key: the first call writes the jobs, the key and the answer that render
	// makes of them in one transaction. A later call with the same hash gets that answer and writes nothing; with another
	// hash it returns ErrKeyReused; while the first is still open it returns ErrKeyInFlight at once; if the answer cannot be
	// read any more, it returns ErrKeyDamaged and writes nothing. Keys are per holder and are deleted after key.Keep. render may
	// be called more than once and must only compute.
	SubmitOnce(ctx context.Context, key IdempotencyKey, jobs []NewJob, render func([]Submitted) (Answer, error)) (Once, error)
	// SubmitOnceEach is SubmitOnce for many calls of one job each, which share a commit; answer i is for call i. It stores
	// the job and its outcome, from which the caller makes the answer. If a key is in flight, or what is kept under it is
	// damaged, only its call gets the error, and no call waits for it. If calls have equal keys, the first is carried out and
	// the others are in flight. If SubmitOnceEach itself returns an error, nothing was written; after ErrUnavailable this is
	// unknown.
	SubmitOnceEach(ctx context.Context, calls []OnceCall) ([]OnceAnswer, error)
}

// JobStore reads single jobs and changes them for an operator. It looks for a job in all tables at once, and again while the
// job may be moving between them; ErrNotFound means that it is in none.
type JobStore interface {
	Get(ctx context.Context, id int64) (Job, error)
	// List returns up to q.Limit jobs, newest id first. The work of one call is bounded: if few rows match, a page may be
	// short or empty and still have a next one.
	List(ctx context.Context, q ListQuery) (Page, error)
	// Ended returns the status of the jobs that have ended, by one statement, for ?wait=.
	Ended(ctx context.Context, ids []int64) (map[int64]Status, error)
	// Cancel: scheduled and queued become cancelled (token + 1); on running cancel_wanted is set; an ended job
	// is a *ConflictError. It returns the job's new state. Cancelling a running job again changes nothing.
	Cancel(ctx context.Context, id int64) (Job, error)
	// Reschedule gives a scheduled or queued job a new run_at (queued: back to scheduled, token + 1); else *ConflictError.
	Reschedule(ctx context.Context, id int64, when When) (Job, error)
	// Retry puts a dead letter back: scheduled now, attempts and snoozes 0, expires_at cleared, token + 1.
	// Not failed, or its dedupe key taken: *ConflictError.
	Retry(ctx context.Context, id int64) (Job, error)
	// Redrive retries up to limit dead letters that match, lowest id first, at the given pace. It reports and leaves those
	// that conflict, that raise an error, or whose dedupe key an open transaction holds.
	Redrive(ctx context.Context, q DeadQuery, limit int, pace Pace) ([]Redriven, error)
	// Discard deletes up to limit dead letters that match, lowest id first. It sets apart those that raise an error and deletes
	// others in their place. One call ends when it has left 16 or so; the next one goes on behind After.
	Discard(ctx context.Context, q DeadQuery, limit int) (Discarded, error)
	// CountDead counts the dead letters that match, up to CountCap.
	CountDead(ctx context.Context, q DeadQuery) (int, error)
	// DeadGroups counts the dead letters that match by type and error group, largest first, at most limit groups.
	// It looks at the newest CountCap dead letters, or at those of the given group, tenant or type.
	DeadGroups(ctx context.Context, q DeadQuery, limit int) ([]DeadGroup, error)
}

// TickStore is what one pass of the scheduler needs. In direct mode a Tick of an idle store is one transaction.
type TickStore interface {
	// Tick does all this in one pipelined transaction: renews the holder's bucket leases and takes those that have expired
	// or were released; lists running jobs whose lease has passed; cancels waiting jobs whose expires_at has passed; returns
	// queued rows whose dispatch lease has passed, to be published again (same token, lease doubled; rows of a former holder
	// that did not release its leases are due at once); marks due rows queued, within the quotas. Without a queue it returns
	// queued rows to scheduled. It changes rows of held buckets only, under a lock of their lease rows: a holder that has
	// lost its lease changes no row.
	Tick(ctx context.Context, req TickRequest) (TickResult, error)
	// DueIn returns how long the scheduler can do without a pass: the time until the next job, schedule or expiry is due, at
	// most an hour. It is ≤ 0 while there is something to do or to watch: due work, jobs in flight, a schedule with a
	// waiting run, a type whose success is overdue, failures and rows set apart that were not reported, open alerts about
	// failures, and what req adds. It changes nothing. It is one transaction, whose work does not grow with the rows of a
	// lane.
	DueIn(ctx context.Context, req DueRequest) (time.Duration, error)
	// ReleaseLeases releases the holder's leases as clean: everything it queued is published, so the next holder publishes
	// nothing again.
	ReleaseLeases(ctx context.Context, holder string) error
	// Undispatch makes the dispatch lease of these queued rows pass now: their Send failed or is unknown.
	Undispatch(ctx context.Context, refs []Ref) error
	SetsApart
	// TellApart returns up to 100 rows that were set apart and that it has not returned before.
	TellApart(ctx context.Context) ([]RowFault, error)
	// NameDamaged sets apart, as ApartDamaged, up to MaxDamagedNamed rows of each kind whose damage raises no error: a status,
	// priority or role that does not exist, a time that never comes, or an id from IDLimit on. Nothing is ever done with them.
	NameDamaged(ctx context.Context) error
	// Maintain makes partitions ahead, drops those past retention, merges rollups of past minutes. It is safe to call from
	// many processes at once, and never waits long for a lock.
	Maintain(ctx context.Context, req MaintainRequest) (MaintainResult, error)
}

// FleetStore reads which types workers handle.
type FleetStore interface {
	// Fleet reads, by one statement, what the workers that receive from queues handle now.
	Fleet(ctx context.Context) (Fleet, error)
}

// QueuedStore counts what is in the queues.
type QueuedStore interface {
	// CountQueued counts the queued rows of each priority, capped at CountCap, for publishers that are no scheduler; of each
	// type, too, if types is set. It locks nothing and sees what Tick's result counts.
	CountQueued(ctx context.Context, types bool) (QueuedCount, error)
}

// WorkStore is what workers need.
type WorkStore interface {
	FleetStore
	// ClaimDue (direct mode) makes due rows of the quotas running: attempts + 1, token + 1, under lease.
	// Rows that may not run (expired, attempts used up) are ended instead, never returned, counted in Taken.
	ClaimDue(ctx context.Context, req ClaimRequest) (ClaimResult, error)
	// Waiting returns the lanes that have scheduled rows and when the first row of each is due, lanes of types marked as
	// unhandled included. It reads a few rows per lane, independently of the number of types and rows.
	Waiting(ctx context.Context) ([]Lane, error)
	// Start (queue mode) makes queued rows running whose token is equal, as ClaimDue does. Rows that it does not return are
	// stale: their messages are worthless. It does not wait for a locked row: that is Busy.
	Start(ctx context.Context, refs []Ref, req ClaimRequest) (StartResult, error)
	// ReadClaim returns the running rows that carry this claim id: for a ClaimDue or Start whose answer was lost.
	ReadClaim(ctx context.Context, claimID int64) ([]Job, error)
	// Unhandled returns queued rows to scheduled (token + 1, no attempt) because this worker has no handler. It marks each
	// type that no live worker of the queues handles as unhandled for 30 s, doubling to 5 min, or until a worker announces
	// them.
	Unhandled(ctx context.Context, refs []Ref) error
	// Announce records that a worker is live and what it handles, for PresenceTTL, and clears the unhandled marks of its
	// types. It replaces the worker's earlier announcement. One statement.
	Announce(ctx context.Context, p Presence) error
	// Withdraw records that a worker has gone. An unknown id is no error.
	Withdraw(ctx context.Context, id string) error
	// Heartbeat extends the leases of running rows whose token is equal. Answer i is for beat i.
	Heartbeat(ctx context.Context, beats []Ref, lease time.Duration) ([]Beat, error)
	// Finish ends attempts; answer i is for end i. It ends locked rows one by one, under a short lock timeout; those still
	// locked come back Busy and may be sent again. An end that repeats the row's ended token gets the first answer and
	// changes nothing.
	Finish(ctx context.Context, ends []End) ([]EndAnswer, error)
	// AddRollups adds counts to the minute rows of this shard.
	AddRollups(ctx context.Context, shard int, rows []Rollup) error
	SetsApart
}

// StatsStore answers questions about the whole installation.
type StatsStore interface {
	// Stats counts jobs, workers and alerts. Counts of live rows stop at CountCap.
	Stats(ctx context.Context, since time.Duration) (Stats, error)
	// StatsOf counts the live rows and dead letters of one tenant: Now, Queues and DeadLetters only.
	StatsOf(ctx context.Context, tenant string) (Stats, error)
	// CountSchedules counts up to CountCap schedules by state. It reads them all: do not call it often.
	CountSchedules(ctx context.Context) (ScheduleStates, error)
	// Apart lists up to limit rows that are set apart now, longest first.
	Apart(ctx context.Context, limit int) ([]RowFault, error)
	// Ping reports whether the store can accept jobs: it is reachable and writable, and its schema fits.
	Ping(ctx context.Context) error
	// Now reads the store's clock.
	Now(ctx context.Context) (time.Time, error)
}

// TypeStore keeps the definitions of types.
type TypeStore interface {
	// PutType makes or replaces the definition of t.Name and returns it with its times; made says that it is new.
	PutType(ctx context.Context, t JobType) (kept JobType, made bool, err error)
	// GetType returns a definition. ErrNotFound: there is none, even if there are jobs of that type.
	GetType(ctx context.Context, name string) (JobType, error)
	// ListTypes returns up to limit definitions in the order of their names, from the first name above after.
	ListTypes(ctx context.Context, after string, limit int) ([]JobType, error)
	// DeleteType removes a definition; jobs of the type stay as they are. ErrNotFound: there is none.
	DeleteType(ctx context.Context, name string) error
	// MarkDelivered notes types whose jobs have targets of their own, so that workers that deliver webhooks claim them.
	MarkDelivered(ctx context.Context, names []string) error
	// Types returns every definition, and the types without one that MarkDelivered marked (Delivered set), for a process to
	// keep in memory. One statement; at most MaxTypes rows.
	Types(ctx context.Context) ([]JobType, error)
	// Secret returns the installation's secret of that name. If there is none yet, fresh becomes the secret.
	Secret(ctx context.Context, name string, fresh []byte) ([]byte, error)
}

// AccessStore keeps bearer tokens. It never sees a token, only its hash.
type AccessStore interface {
	// CreateToken stores t and returns it with CreatedAt, the store's now. ErrConflict: the ID is taken.
	CreateToken(ctx context.Context, t Token) (Token, error)
	// FindTokens returns the tokens of these ids, expired ones too, in any order, by one statement. It returns a token once
	// even if its id is given twice, and leaves out ids that are unknown or revoked.
	FindTokens(ctx context.Context, ids []string) ([]Token, error)
	// ListTokens returns up to limit tokens in the order of their ids, from the first id above after.
	ListTokens(ctx context.Context, after string, limit int) ([]Token, error)
	// RevokeToken removes a token. ErrNotFound: there is none.
	RevokeToken(ctx context.Context, id string) error
}

// ScheduleStore keeps schedules, their ledger and alerts. Tick returns the schedules that are due.
type ScheduleStore interface {
	// CreateSchedule stores s under a new id, with Version 1, CreatedAt now and its State as given. ErrConflict: its tenant
	// has a schedule of that name.
	CreateSchedule(ctx context.Context, s Schedule) (Schedule, error)
	// GetSchedule reads a schedule, with Active. ErrNotFound: there is none.
	GetSchedule(ctx context.Context, tenant, name string) (Schedule, error)
	ListSchedules(ctx context.Context, q ScheduleQuery) ([]Schedule, error)
	// DeleteSchedule removes a schedule with its ledger and clears the alert that it is overdue; its jobs stay. ErrStale:
	// the schedule has another version (version 0 means any).
	DeleteSchedule(ctx context.Context, tenant, name string, version int64) error
	// AdvanceSchedules applies steps, each whole or not at all, all in one transaction; answer i is for step i. fence are
	// the bucket leases that a tick holds: a step outside them is Stale. Nil means that a user acts, who holds none. It does
	// not wait for a locked row: its step is Stale.
	AdvanceSchedules(ctx context.Context, steps []Advance, fence []Held) ([]Advanced, error)
	// ActiveRuns returns the ids of up to 1,000 live jobs of a schedule.
	ActiveRuns(ctx context.Context, tenant, name string) ([]int64, error)
	// CancelRuns cancels the live ones of these jobs, as Cancel does, in one transaction, and returns their ids. It leaves
	// out locked rows.
	CancelRuns(ctx context.Context, ids []int64) ([]int64, error)
	// Occurrences returns up to q.Limit rows of a ledger, newest first.
	Occurrences(ctx context.Context, q OccurrenceQuery) ([]Occurrence, error)
	// Succeeded looks for successful runs of schedules; answer i is for question i.
	Succeeded(ctx context.Context, asks []SuccessQuery) ([]Success, error)
	// RaiseAlerts raises alerts without ClearedAt and clears those with ClearedAt alone, at the store's now. If an alert has
	// both times, it closes the open one or records a closed one. Kind, tenant and subject name an alert; raising an open
	// alert or clearing a closed one changes nothing.
	RaiseAlerts(ctx context.Context, alerts []Alert) error
	// Alerts returns up to q.Limit alerts, newest first.
	Alerts(ctx context.Context, q AlertQuery) ([]Alert, error)
	// WatchTypes raises AlertTypeMissed, without a tenant, for every type that had no successful job within its
	// ExpectWithin, and clears it on the next success. Successes are known by minute (AddRollups); each counts as of the end
	// of its minute. PutType with another ExpectWithin starts the wait again and clears the alert; DeleteType clears it.
	// Safe to repeat and to call concurrently.
	WatchTypes(ctx context.Context) error
	// WatchFailures raises AlertJobFailed, without a tenant, for the type and error group of each job that failed for good since
	// the last call, and counts the jobs, each once. It raises no second alert while one is open. It clears an alert when its
	// group has no dead letter left or had no failure for FailureQuiet. One call takes at most FailureNotes notes; raised is
	// the number of new alerts.
	WatchFailures(ctx context.Context) (raised int, err error)
	// MarkAlerts notes that the events of these alerts, in their present state, were published.
	MarkAlerts(ctx context.Context, alerts []Alert) error
}

// Topic publishes messages of one priority.
type Topic interface {
	// Send publishes all messages and returns one error per message; nil means that it is published. An error means that
	// this is unknown: the message may have been sent.
	Send(ctx context.Context, msgs []Message) []error
	Close(ctx context.Context) error
}

// Subscription receives messages of one priority. After an error other than the end of ctx it is unusable: Close it and open
// another. Subscriptions of one priority compete for its messages.
type Subscription interface {
	// Receive waits for at least one delivery, then returns up to max that have arrived.
	Receive(ctx context.Context, max int) ([]Delivery, error)
	Close(ctx context.Context) error
}

// Delivery is one message in a consumer's hands. Exactly one of Ack and Release ends it. Both may return before the queue
// has the call, so that calls are sent in batches; Close of the subscription waits for them.
type Delivery interface {
	Body() []byte
	Ack(ctx context.Context) error
	// Release gives the message back, to be delivered again after about d. Queues that cannot delay deliver it at once or
	// after their visibility timeout.
	Release(ctx context.Context, d time.Duration) error
	// Extend prolongs its visibility timeout to d from now. ErrCannotExtend: the queue has none.
	Extend(ctx context.Context, d time.Duration) error
}

// Rejecter is implemented by deliveries of queues that have a dead-letter queue. Reject moves a message there that no worker
// can read, at once or after a few more deliveries. It ends the delivery as Ack and Release do.
type Rejecter interface {
	Reject(ctx context.Context) error
}

// Queue opens the topics and subscriptions of all priorities.
type Queue interface {
	OpenTopic(ctx context.Context, p Priority) (Topic, error)
	OpenSubscription(ctx context.Context, p Priority) (Subscription, error)
}
