package core

import "time"

// TickRequest says who ticks, and its limits.
type TickRequest struct {
	Holder      string        // names the scheduler instance
	LeaseLength time.Duration // of bucket leases; zero means 4 s
	ReapLimit   int           // lists at most this many lost jobs
	ReapAfter   int64         // lists lost jobs by id, from above this one: a full list is followed by the next page
	ExpireLimit int           // cancels at most this many expired jobs
	Dispatch    bool          // queue mode: publish again, and mark due rows queued
	Unannounced bool          // queue mode: lists types that no worker announces too, because functions may handle them
	Quotas      []Quota       // queue mode: what may be marked queued
	CountTypes  bool          // queue mode: counts queued rows by type too, because types may have their own queues
	Recall      bool          // direct mode: queued rows whose dispatch lease has passed return to scheduled (token + 1)
	// DispatchLease is the first dispatch lease; it doubles with each publishing up to DispatchLeaseMax.
	DispatchLease, DispatchLeaseMax time.Duration
	RepublishLimit                  int
	ScheduleLimit                   int // lists at most this many schedules; zero means none
	// The tick looks at up to WaitingLimit schedules with a waiting run, in the order of ids, from above WaitingAfter (zero
	// means ScheduleLimit). A full page is followed by the next one.
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
	// Waiting has one lane per priority and type with scheduled rows, and says when its first row is due. It leaves out
	// types marked as unhandled and, in queue mode, types that no live worker handles; see TickRequest.Unannounced.
	Waiting  []Lane
	Unserved []Lane               // the same for priorities that do not exist: damaged rows, which no worker claims
	Queued   [len(Priorities)]int // queue mode: rows queued per priority (index: priority - 1) before this tick's quotas; capped at CountCap
	// QueuedTypes are the same by priority and type, if TickRequest.CountTypes is set; capped at CountCap for each priority
	// on average.
	QueuedTypes []QueuedType
	Schedules   []Schedule    // that need an Advance: an instant is due, one waits and no run is active, or a success is overdue
	WaitingTo   int64         // the last schedule of a full page of schedules with a waiting run; zero if the page was not full
	ScheduleIn  time.Duration // until the next schedule needs an Advance, at most an hour; 0 when ScheduleLimit was reached
	Unsent      bool          // alert events wait to be published
	Failed      bool          // jobs failed for good that WatchFailures has not seen
	Failing     bool          // alerts about jobs that failed for good are open
	Untold      bool          // rows were set apart that TellApart has not returned
	Released    bool          // another holder took leases of this one since the last tick
}

// QueuedCount counts the queued jobs.
type QueuedCount struct {
	Priorities [len(Priorities)]int // index: priority - 1
	Types      []QueuedType         // nil unless asked for
}

// QueuedType counts the queued jobs of a priority and type.
type QueuedType struct {
	Priority Priority
	Type     string
	N        int
}

// DueRequest says what else TickStore.DueIn counts as something to do.
type DueRequest struct {
	Alerts bool          // events of alerts that wait to be published
	News   time.Duration // counts (AddRollups) of minutes that began no longer ago than this. Zero means none
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

// Quota is a lane's share of a claim. If PerTenant is zero, rows come in order of run_at. Otherwise they come tenant by
// tenant, at most PerTenant each, beginning after TenantAfter and wrapping around, so that no tenant starves.
type Quota struct {
	Priority    Priority
	Type        string
	Limit       int
	After       Mark // rows at or before it are skipped; the zero Mark means the full range
	PerTenant   int
	TenantAfter string
	Targeted    bool // ClaimDue only: skips rows without a target of their own, neither taken nor counted
}

// Mark is a place in a lane's order.
type Mark struct {
	RunAt time.Time
	ID    int64
}

// Taken answers one quota.
type Taken struct {
	N          int    // rows claimed, those that were ended instead of started included
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

// MaintainResult says what Maintain did.
type MaintainResult struct {
	PartitionsMade, PartitionsDropped int
	DeadDropped, RollupsMerged        int
	Overflow                          int // rows in the overflow history, of days without a partition
}
