package core

import "time"

// CountCap bounds every count of live rows.
const CountCap = 100_000

// Stats counts jobs, workers, schedules and alerts.
type Stats struct {
	Now             time.Time
	Queues          []QueueStats
	Rollups         []Rollup      // per (priority, type), summed over the period asked for; Minute is its start
	Totals          []Rollup      // the same since the first job: the counters of /metrics
	DeadLetters     int           // capped at CountCap
	Stuck           int           // running with the lease passed
	Unhandled       int           // due or queued jobs of types that no worker handles; capped
	UnhandledTypes  []TypeCount   // these types, most jobs first; at most MaxTypesTold
	Workers         int           // live workers
	SlotUse         SlotUse       // of the live workers
	Handlers        []TypeCount   // types and how many live workers have a handler for each, by name; at most MaxTypesTold
	OldestSnapshot  time.Duration // age of the oldest open snapshot in the database; 0 when not known
	HistoryOverflow int

	OldestDueSchedule time.Duration // how long the most overdue schedule has been due; 0 when none is
	OpenAlerts        []AlertCount  // open alerts by kind
	SetApart          []ApartCount  // rows set apart, by kind
}

// TypeCount is a count for a type.
type TypeCount struct {
	Type string
	N    int
}

// AlertCount is how many alerts of a kind are open, capped at CountCap.
type AlertCount struct {
	Kind string
	Open int
}

// ScheduleStates is how many schedules are in each state.
type ScheduleStates struct {
	Active int // the rule has an instant to come
	Paused int
	Ended  int // the rule has no instant to come
}

// QueueStats is one priority's live rows.
type QueueStats struct {
	Priority                        Priority
	Scheduled, Due, Queued, Running int           // capped at CountCap each
	OldestDue                       time.Duration // how long the oldest due row has been due
}
