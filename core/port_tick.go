package core

import "time"

// TickRequest says who ticks and what for.
type TickRequest struct {
	Holder      string        // names the scheduler instance
	LeaseLength time.Duration // of bucket leases; zero means 4 s
	ReapLimit   int           // lost jobs listed at most
	ReapAfter   int64         // lost jobs are listed by id, above this one: a full list is followed by its next page
	ExpireLimit int           // jobs expired at most
	Dispatch    bool          // queue mode: republish and claim
	Unannounced bool          // queue mode: types that nobody announces are waiting too, for functions may handle them
	Quotas      []Quota       // queue mode: what may be marked queued
	CountTypes  bool          // queue mode: queued rows are counted by type, too, for types may have queues of their own
	Recall      bool          // direct mode: queued rows whose dispatch lease has passed return to scheduled (token + 1)
	// DispatchLease is the first dispatch lease; it doubles with each publishing up to DispatchLeaseMax.
	DispatchLease, DispatchLeaseMax time.Duration
	RepublishLimit                  int
	ScheduleLimit                   int // schedules listed at most; zero means none
	// Of schedules with a run that waits, those with ids above WaitingAfter are looked at, up to WaitingLimit of them (zero
	// means ScheduleLimit): a full page is followed by its next one.
	WaitingAfter int64
	WaitingLimit int
}

// TickResult says what the tick found and did.
type TickResult struct {
	Now        time.Time
	Held       []Held  // buckets held now
	Lost       []Job   // running, lease passed: decide, then Finish with End.Lost set
	Expired    int     // jobs cancelled as expired
	Dispatched []Job   // to publish, in this order; payload left out
	Taken      []Taken // one per quota
	// Waiting has one lane per (priority, type) with scheduled rows and says when its first is due. Left out are types
	// marked as unhandled and, in queue mode, those that no live worker handles; see TickRequest.Unannounced.
	Waiting  []Lane
	Unserved []Lane               // the same of priorities that there are none of: rows that were damaged, which nobody ever claims
	Queued   [len(Priorities)]int // queue mode: rows queued per priority (index: priority - 1) before this tick's quotas; capped at CountCap
	// QueuedTypes are the same by priority and type, where that was asked for; capped at CountCap for each priority on average.
	QueuedTypes []QueuedType
	Schedules   []Schedule    // that need an Advance: an instant is due, one waits and no run is active, or a success is overdue
	WaitingTo   int64         // the last schedule of a page of those with a waiting run; zero if the page was not full
	ScheduleIn  time.Duration // until the next one does, at most an hour; 0 when ScheduleLimit was reached
	Unsent      bool          // events of alerts wait to be published
	Failed      bool          // jobs failed for good that WatchFailures has not seen
	Failing     bool          // alerts about jobs that failed for good are open
	Untold      bool          // rows were set apart that TellApart has not returned
	Released    bool          // reserved leases were lost since the last tick (another holder took them)
}

// QueuedType is how many jobs of a priority and type are queued.
type QueuedType struct {
	Priority Priority
	Type     string
	N        int
}

// DueRequest says what TickStore.DueIn counts as something to do.
type DueRequest struct {
	Alerts bool          // events of alerts that wait to be published
	News   time.Duration // counts (AddRollups) of minutes that began this short a time ago. Zero means none
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
	Targeted    bool // ClaimDue only: rows without a target of their own are passed over, neither taken nor counted
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
	LedgerRetention  time.Duration // of the schedules' ledger; zero means keep for ever
	DaysAhead        int           // history partitions kept ready; zero means 8
}

// MaintainResult says what was done.
type MaintainResult struct {
	PartitionsMade, PartitionsDropped int
	DeadDropped, RollupsMerged        int
	Overflow                          int // rows in the overflow history: some day had no partition
}
