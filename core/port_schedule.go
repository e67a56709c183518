package core

import "time"

// ScheduleQuery selects schedules, by tenant and name. Zero fields do not restrict.
type ScheduleQuery struct {
	Tenant      *string
	Type        string
	Paused      *bool
	AfterTenant string // those behind this tenant and name
	AfterName   string
	TZDataNot   string // those whose next instant was computed with another version of the time zone database
	Limit       int    // 1 … 1,000
	Bytes       int    // the list ends with the schedule by which payloads and targets come to this. 0 means with none
}

// Size is how many bytes of payload and target a schedule has.
func (s *Schedule) Size() int { return len(s.Rule.Payload) + len(s.Rule.Target) }

// OccurrenceQuery selects ledger rows of one schedule, newest first. Zero fields do not restrict.
type OccurrenceQuery struct {
	ScheduleID int64
	From       time.Time // instants at or after it
	Before     time.Time // rows that begin before it: a page's cursor
	Outcome    string
	Limit      int // 1 … 1,000
}

// Advance takes one schedule from one state to another, whole or not at all. It applies only if the schedule has had no
// other Advance since it was read (Version and Moves). If several ticks, or a tick and a user, plan one at the same time,
// exactly one applies.
type Advance struct {
	ID       int64
	Version  int64
	Moves    int64
	Inactive bool // applies only while no run of it is active

	Rule        *ScheduleRule // the new definition: Version rises. Nil means unchanged
	State       ScheduleState
	Occurrences []Ledgered
	Jobs        []NewJob // with Run set
	// Attach sets Jobs[0], which had waited, on the ledger rows that were written for its instants.
	Attach bool
	// Alerts about this schedule are raised and cleared with it, as RaiseAlerts does; Tenant and Subject are its own.
	Alerts []Alert
}

// Ledgered is a new row of the ledger. Its run is Jobs[Job] of the Advance; a negative Job means none.
type Ledgered struct {
	Occurrence
	Job int
}

// SuccessQuery asks for the done jobs of a schedule, for instants at or after Since.
type SuccessQuery struct {
	Tenant, Name string
	Since        time.Time
}

// Success answers a SuccessQuery; zero times when there are none.
type Success struct {
	First  time.Time // when the first was recorded, of the 100 earliest instants
	Newest time.Time // the newest instant
}

// Advanced answers one Advance.
type Advanced struct {
	Stale   bool    // the schedule has changed, has an active run, or is gone: nothing was done
	JobIDs  []int64 // of Jobs
	Version int64
}

// Alert is something an operator should know: raised once, cleared once.
type Alert struct {
	ID        int64
	Kind      string // "schedule_missed", "schedule_unreadable", "type_missed", "occurrences_dropped", "job_failed"
	Subject   string // the schedule, type or error group it is about
	Tenant    string
	Detail    string // a sentence
	RaisedAt  time.Time
	ClearedAt time.Time // when it ended. Zero means that it is open
	Count     int64     // how many jobs failed while it was open (job_failed)
}

// AlertQuery selects alerts, newest first. Zero fields do not restrict.
type AlertQuery struct {
	Tenant *string
	Kind   string
	Open   bool  // those not cleared
	Unsent bool  // events not yet published (MarkAlerts)
	Before int64 // ids below this
	Limit  int   // 1 … 1,000
}

// Kinds of alerts.
const (
	AlertScheduleMissed     = "schedule_missed"     // no success was recorded within expect_within of an instant
	AlertScheduleUnreadable = "schedule_unreadable" // its stored definition cannot be read, so that it makes no runs
	AlertDropped            = "occurrences_dropped" // more was missed than missed_limit; raised and over at once
	AlertTypeMissed         = "type_missed"         // no job of a type succeeded for expect_within
	AlertJobFailed          = "job_failed"          // jobs of one type failed for good with one kind of error
)
