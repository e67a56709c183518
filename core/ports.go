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
// A row that raises an error for itself (damaged, at the end of a number, refused by somebody's trigger) stops no other:
// Tick, ClaimDue, Start and Heartbeat set it apart (SetApart) and go on without it; a method that is given rows and meets
// one changes nothing and answers ErrRow, for the caller to go on in halves.

// Store is everything one database does for Belfry. Each caller takes the part it needs.
type Store interface {
	SubmitStore
	JobStore
	TickStore
	WorkStore
	StatsStore
	TypeStore
	AccessStore
	ScheduleStore
	InstallationStore
	Close() error
}

// SubmitStore accepts jobs.
type SubmitStore interface {
	// Submit writes all jobs in one transaction and returns when it is durable; item i answers job i.
	// A job whose dedupe key a live job of its tenant holds is not written: its Existing is that job, as
	// committed (a key held by an open transaction is waited for, at most a lock timeout, then ErrBusy).
	// Of equal keys within one call the first is written. Never deadlocks with another Submit.
	Submit(ctx context.Context, jobs []NewJob) ([]Submitted, error)
	// SubmitOnce is Submit under an idempotency key: the first call writes jobs, key and the answer that render
	// makes of them in one transaction. A later one with the same hash gets that answer and writes nothing; with
	// another hash it is ErrKeyReused; while the first is still open it is ErrKeyInFlight, without waiting. Keys
	// are per holder and forgotten after key.Keep. render may be called more than once and must only compute.
	SubmitOnce(ctx context.Context, key IdempotencyKey, jobs []NewJob, render func([]Submitted) (Answer, error)) (Once, error)
	// SubmitOnceEach is SubmitOnce for many calls of one job each, which share a commit; answer i is for call i. It keeps the job
	// and what it came to, of which the caller makes the answer. A key that
	// is in flight is ErrKeyInFlight for its call alone, and nobody waits for it; of calls with equal keys the first is
	// carried out, and the others are in flight. After an error of the whole nothing was written, unless that is not known (ErrUnavailable).
	SubmitOnceEach(ctx context.Context, calls []OnceCall) ([]OnceAnswer, error)
}

// JobStore reads single jobs and changes them at an operator's word. A job is looked for in all tables at
// once, and again while it may be moving between them; ErrNotFound means absent everywhere.
type JobStore interface {
	Get(ctx context.Context, id int64) (Job, error)
	// List returns up to q.Limit jobs, newest id first. The work of one call is bounded: where few rows match, a
	// page may be short or empty and still have a next one.
	List(ctx context.Context, q ListQuery) (Page, error)
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
	// Redrive retries up to limit dead letters that match, lowest id first, at the pace given; one that conflicts, that raises
	// an error, or whose dedupe key an open transaction holds, is reported and left.
	Redrive(ctx context.Context, q DeadQuery, limit int, pace Pace) ([]Redriven, error)
	// Discard deletes up to limit dead letters that match, lowest id first, and says how many. One that raises an error is
	// set apart, and others are deleted in its place; where none could be deleted it is ErrRow.
	Discard(ctx context.Context, q DeadQuery, limit int) (int, error)
	// CountDead counts the dead letters that match, up to CountCap.
	CountDead(ctx context.Context, q DeadQuery) (int, error)
	// DeadGroups counts the dead letters that match by type and error group, largest first, at most limit groups.
	// It looks at the newest CountCap dead letters, or at those of the group, tenant or type asked for.
	DeadGroups(ctx context.Context, q DeadQuery, limit int) ([]DeadGroup, error)
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
	// DueIn says how long a tick misses nothing that makes no pass: until the next job, schedule or expiry is due, at most an hour,
	// and no time at all (≤ 0) while there is something to do or to watch. That is, besides what is due: jobs in flight, a schedule
	// with a run that waits, a type whose success is overdue, failures and rows set apart that nobody was told of, alerts about
	// failures that are open, and what req adds. It changes nothing. One transaction, whose work does not grow with the rows of a lane.
	DueIn(ctx context.Context, req DueRequest) (time.Duration, error)
	// ReleaseLeases gives the holder's leases up as clean: what it queued is published and need not be again.
	ReleaseLeases(ctx context.Context, holder string) error
	// Undispatch makes the dispatch lease of these queued rows pass now: their Send failed or is unknown.
	Undispatch(ctx context.Context, refs []Ref) error
	SetsApart
	// TellApart returns rows that were set apart and that it has not returned before, up to 100.
	TellApart(ctx context.Context) ([]RowFault, error)
	// Maintain makes partitions ahead, drops those past retention, merges rollups of past minutes. Safe to
	// call from many processes at once; never waits long for a lock.
	Maintain(ctx context.Context, req MaintainRequest) (MaintainResult, error)
}

// FleetStore tells what workers handle.
type FleetStore interface {
	// Fleet reads what workers handle now that receive from queues, in one statement.
	Fleet(ctx context.Context) (Fleet, error)
}

// WorkStore is what workers need.
type WorkStore interface {
	FleetStore
	// ClaimDue (direct mode) makes due rows of the quotas running: attempts + 1, token + 1, under lease.
	// Rows that may not run (expired, attempts used up) are ended instead, never returned, counted in Taken.
	ClaimDue(ctx context.Context, req ClaimRequest) (ClaimResult, error)
	// Waiting returns the lanes that have scheduled rows and when the first of each is due, whatever marks their types
	// bear. It reads a few rows for each of these lanes, however many types and rows there are.
	Waiting(ctx context.Context) ([]Lane, error)
	// Start (queue mode) makes queued rows running whose token is equal, as ClaimDue does. Rows that do not
	// come back are stale: their messages are worthless. A row locked by another is not waited for: Busy.
	Start(ctx context.Context, refs []Ref, req ClaimRequest) (StartResult, error)
	// ReadClaim returns the running rows that carry this claim id: for a ClaimDue or Start whose answer was lost.
	ReadClaim(ctx context.Context, claimID int64) ([]Job, error)
	// Unhandled returns queued rows to scheduled (token + 1, no attempt) because no handler is here. Types that no live
	// worker handles which receives from queues it marks as unhandled for 30 s, doubling to 5 min, or until a worker announces them.
	Unhandled(ctx context.Context, refs []Ref) error
	// Announce says that a worker is there and what it handles, which holds for PresenceTTL, and clears the marks of its
	// types. It replaces what the worker said before. One statement.
	Announce(ctx context.Context, p Presence) error
	// Withdraw says that a worker is gone. One that is not known is none.
	Withdraw(ctx context.Context, id string) error
	// Heartbeat extends the leases of running rows whose token is equal. Answer i is for beat i.
	Heartbeat(ctx context.Context, beats []Ref, lease time.Duration) ([]Beat, error)
	// Finish ends attempts; answer i is for end i. Rows locked by another are done apart, singly, under a short
	// lock timeout; those come back Busy and may be sent again. An end that repeats the row's ended token gets
	// the first answer and changes nothing.
	Finish(ctx context.Context, ends []End) ([]EndAnswer, error)
	// AddRollups adds counts to the minute rows of this shard.
	AddRollups(ctx context.Context, shard int, rows []Rollup) error
	SetsApart
}

// StatsStore answers questions about the whole.
type StatsStore interface {
	// Stats counts; counts of live rows stop at CountCap.
	Stats(ctx context.Context, since time.Duration) (Stats, error)
	// StatsOf counts the live rows and dead letters of one tenant: Now, Queues and DeadLetters only.
	StatsOf(ctx context.Context, tenant string) (Stats, error)
	// CountSchedules counts schedules by state, of up to CountCap. It reads them all: do not ask often.
	CountSchedules(ctx context.Context) (ScheduleStates, error)
	// Apart lists up to limit rows that are set apart now, those that were longest first.
	Apart(ctx context.Context, limit int) ([]RowFault, error)
	// Ping reports whether the store can accept jobs: reachable, writable, schema known.
	Ping(ctx context.Context) error
	// Now is the store's clock.
	Now(ctx context.Context) (time.Time, error)
}

// TypeStore keeps what is known of types beyond the handlers that processes announce.
type TypeStore interface {
	// PutType makes or replaces the definition of t.Name and returns it with its times; made says that there was none.
	PutType(ctx context.Context, t JobType) (kept JobType, made bool, err error)
	// GetType returns a definition. ErrNotFound: there is none, whatever jobs of that type there are.
	GetType(ctx context.Context, name string) (JobType, error)
	// ListTypes returns up to limit definitions, by name, those above after.
	ListTypes(ctx context.Context, after string, limit int) ([]JobType, error)
	// DeleteType removes a definition; jobs of the type stay as they are. ErrNotFound: there is none.
	DeleteType(ctx context.Context, name string) error
	// MarkDelivered notes types of jobs that bring a target of their own, so that workers who deliver claim them.
	MarkDelivered(ctx context.Context, names []string) error
	// Types returns every definition, and the marks of MarkDelivered on types without one (Delivered set): what a
	// process keeps in memory. One statement; at most MaxTypes rows.
	Types(ctx context.Context) ([]JobType, error)
	// Secret returns the installation's secret of that name; the first caller's fresh bytes become it.
	Secret(ctx context.Context, name string, fresh []byte) ([]byte, error)
}

// AccessStore keeps bearer tokens. It never sees a token, only its hash.
type AccessStore interface {
	// CreateToken keeps t; CreatedAt of the answer is the store's now. An ID that is taken is ErrConflict.
	CreateToken(ctx context.Context, t Token) (Token, error)
	// FindTokens returns those tokens of these ids that there are, also when they have expired, in any order and by one
	// statement. An id given twice is answered once; one that is unknown, or was revoked, is left out.
	FindTokens(ctx context.Context, ids []string) ([]Token, error)
	// ListTokens returns up to limit tokens, by id, those above after.
	ListTokens(ctx context.Context, after string, limit int) ([]Token, error)
	// RevokeToken removes a token. ErrNotFound: there is none.
	RevokeToken(ctx context.Context, id string) error
}

// ScheduleStore keeps schedules, their ledger and alerts. Due schedules come with Tick.
type ScheduleStore interface {
	// CreateSchedule keeps s under a new id, Version 1, CreatedAt now, its State as given. ErrConflict: its tenant
	// has one of that name.
	CreateSchedule(ctx context.Context, s Schedule) (Schedule, error)
	// GetSchedule reads one, with Active. ErrNotFound: there is none.
	GetSchedule(ctx context.Context, tenant, name string) (Schedule, error)
	ListSchedules(ctx context.Context, q ScheduleQuery) ([]Schedule, error)
	// DeleteSchedule removes one with its ledger, and clears the alert that it is overdue; jobs made stay. ErrStale: its
	// version is another (0: any).
	DeleteSchedule(ctx context.Context, tenant, name string, version int64) error
	// AdvanceSchedules applies steps, each whole or not at all, all in one transaction; answer i is for step i. fence
	// are the bucket leases a tick acts under: a step outside them is Stale. Nil means that a user acts, without.
	// A row locked by another is Stale, not waited for.
	AdvanceSchedules(ctx context.Context, steps []Advance, fence []Held) ([]Advanced, error)
	// ActiveRuns returns the ids of up to 1,000 live jobs of a schedule.
	ActiveRuns(ctx context.Context, tenant, name string) ([]int64, error)
	// CancelRuns cancels those of the jobs that are live, as Cancel does, all in one transaction, and returns their ids. Those
	// locked by another are not waited for and not among them.
	CancelRuns(ctx context.Context, ids []int64) ([]int64, error)
	// Occurrences returns up to q.Limit rows of a ledger, newest first.
	Occurrences(ctx context.Context, q OccurrenceQuery) ([]Occurrence, error)
	// Succeeded looks for runs of schedules that were done; answer i is for question i.
	Succeeded(ctx context.Context, asks []SuccessQuery) ([]Success, error)
	// RaiseAlerts raises alerts without ClearedAt and clears those with ClearedAt alone, at the store's now. If an alert has
	// both times, it closes the open one or records a closed one. Kind, tenant and subject name an alert; raising an open
	// alert or clearing a closed one changes nothing.
	RaiseAlerts(ctx context.Context, alerts []Alert) error
	// Alerts returns up to q.Limit alerts, newest first.
	Alerts(ctx context.Context, q AlertQuery) ([]Alert, error)
	// WatchTypes raises AlertTypeMissed, without a tenant, for every type that had no successful job within its ExpectWithin,
	// and clears it on the next success. Successes are known by minute (AddRollups); one counts as of the end of its minute.
	// PutType with another ExpectWithin starts the wait again and clears the alert; DeleteType clears it. Safe to repeat and
	// to call concurrently.
	WatchTypes(ctx context.Context) error
	// WatchFailures raises AlertJobFailed, without a tenant, for the type and error group of each job that failed for good since
	// the last call, and counts the jobs, each once. It raises no second alert while one is open. It clears an alert when its
	// group has no dead letter left or had no failure for FailureQuiet. One call takes at most FailureNotes notes; raised is
	// the number of new alerts.
	WatchFailures(ctx context.Context) (raised int, err error)
	// MarkAlerts notes that the events of these alerts, as they now stand, were published.
	MarkAlerts(ctx context.Context, alerts []Alert) error
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

// Delivery is one message in a consumer's hands. Exactly one of Ack and Release ends it. Both may answer before
// they are done, to go to the queue together with others; Close of the subscription waits for them.
type Delivery interface {
	Body() []byte
	Ack(ctx context.Context) error
	// Release gives it back to be delivered again after about d; queues that cannot delay do so at once or at
	// their own visibility timeout.
	Release(ctx context.Context, d time.Duration) error
	// Extend prolongs its visibility timeout to d from now. ErrCannotExtend where the queue has none.
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
