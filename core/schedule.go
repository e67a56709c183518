package core

import (
	"encoding/json"
	"time"
)

// Schedule is a rule that makes jobs, and how far it has come.
type Schedule struct {
	ID        int64
	Tenant    string // "" means no tenant
	Name      string // unique within its tenant
	Version   int64  // rises with every change of the definition; its ETag
	Rule      ScheduleRule
	State     ScheduleState
	Fault     string // why Rule is not what is stored, which cannot be read, but for its type, payload and pause; "" where it is
	CreatedAt time.Time
	UpdatedAt time.Time // when the definition last changed

	Moves  int64 // how many Advances it has had: what one is planned from
	Active bool  // a run of it has not ended yet, back-off included. Filled in by reads; always false with overlap allow in TickResult
}

// ScheduleRule is what a user says about a schedule, in the form it is kept and shown.
type ScheduleRule struct {
	Cron       string         `json:"cron,omitempty"` // this or Every
	Every      ScheduleLength `json:"every,omitzero"` // plain elapsed time from the anchor
	TimeZone   string         `json:"time_zone,omitempty"`
	DSTGap     string         `json:"dst_gap,omitempty"`     // run_at_transition, shift, skip
	DSTOverlap string         `json:"dst_overlap,omitempty"` // first, last, both
	StartsAt   time.Time      `json:"starts_at,omitzero"`    // no instant before it
	EndsAt     time.Time      `json:"ends_at,omitzero"`      // no instant at or after it

	Missed       string         `json:"missed,omitempty"`        // all, once, skip
	MissedWindow ScheduleLength `json:"missed_window,omitzero"`  // all: no older than this. Zero means no bound
	MissedLimit  int            `json:"missed_limit,omitempty"`  // all: at most so many at once. Zero means 1,000
	MissedGrace  ScheduleLength `json:"missed_grace,omitzero"`   // later than this counts as missed. Zero means 30 s
	Overlap      string         `json:"overlap,omitempty"`       // allow, skip, queue_one, cancel_running
	Jitter       ScheduleLength `json:"jitter,omitzero"`         // runs are spread over so long behind their instant
	ExpectWithin ScheduleLength `json:"expect_within,omitzero"`  // a success is expected so long after each instant
	ExpectPaused bool           `json:"expect_paused,omitempty"` // also while it is paused
	Paused       bool           `json:"paused,omitempty"`

	Type         string           `json:"type"` // of its jobs, and what else they get
	Payload      json.RawMessage  `json:"-"`    // kept apart, byte for byte
	Priority     string           `json:"priority,omitempty"`
	MaxAttempts  int              `json:"max_attempts,omitempty"`
	Timeout      ScheduleLength   `json:"timeout,omitzero"`
	Backoff      []ScheduleLength `json:"backoff,omitempty"`
	ExpiresAfter ScheduleLength   `json:"expires_after,omitzero"` // a run that has not started so long after it may is cancelled
	Target       json.RawMessage  `json:"target,omitempty"`
	Tags         []string         `json:"tags,omitempty"`
}

// ScheduleLength is a duration written as a Go string, "90s".
type ScheduleLength time.Duration

// MarshalText writes it as time.Duration does.
func (d ScheduleLength) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what MarshalText writes.
func (d *ScheduleLength) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = ScheduleLength(v)
	return err
}

// ScheduleState is how far a schedule has come. It changes only by an Advance.
type ScheduleState struct {
	Anchor    time.Time // instants of Every are counted from here: starts_at or creation
	Accounted time.Time // every due instant up to here, this one included, is in the ledger
	NextDue   time.Time // the first instant behind Accounted. Zero means that there is none, or that it is paused
	Waiting   *Run      // a run that waits for the one before it to end (queue_one). Nil means none
	PausedAt  time.Time // when it was paused. Zero means that it is not
	TZData    string    // version of the time zone database that NextDue was computed with

	// ZoneMark is what the clock of the rule's zone showed at Accounted (schedule_zone.go). "" means that it is not known.
	ZoneMark   string
	Unreadable bool // the rule could not be read when it was looked at, and an alert says so

	ExpectBy time.Time // when a success is next missed (ExpectWithin). Zero means that none is expected
	Expected time.Time // the instant whose success is expected by then
	Alerted  bool      // it was missed, and nothing has succeeded since
}

// Outcomes of due instants, and reasons of those skipped.
const (
	OccurrenceFired    = "fired"
	OccurrenceCaughtUp = "caught_up"
	OccurrenceCovered  = "covered" // by a run that is made up once for several
	OccurrenceSkipped  = "skipped"

	SkippedMissed     = "missed"
	SkippedOverlap    = "overlap"
	SkippedPaused     = "paused"
	SkippedWindow     = "window"
	SkippedLimit      = "limit"
	SkippedDSTGap     = "dst_gap"
	SkippedDSTOverlap = "dst_overlap"
)

// Occurrence is a row of the ledger: the due instants of a schedule from From to To, both included, that came to
// one outcome.
type Occurrence struct {
	From, To time.Time
	Count    int64
	Outcome  string
	Reason   string    // of skipped ones
	JobID    int64     // the job that runs it or covers it; 0 means none, or not made yet
	At       time.Time // when it was accounted for, by the store's clock
}

// Run is what a job of a schedule knows of its instant.
type Run struct {
	Schedule     string    `json:"schedule"`
	ScheduledFor time.Time `json:"scheduled_for"`
	CatchUp      bool      `json:"catch_up,omitempty"`   // made up late
	Covers       int64     `json:"covers,omitempty"`     // how many instants it stands for; 0 and 1 mean its own
	CoversFrom   time.Time `json:"covers_from,omitzero"` // the first of them; ScheduledFor is the last
}

// First is the first instant that the run stands for.
func (r *Run) First() time.Time {
	if r.Covers > 1 && !r.CoversFrom.IsZero() {
		return r.CoversFrom
	}
	return r.ScheduledFor
}

// Exclusive reports whether the overlap policy asks if a run is active.
func (r *ScheduleRule) Exclusive() bool { return r.Overlap != "" && r.Overlap != OverlapAllow }

// Overlap policies.
const (
	OverlapAllow         = "allow"
	OverlapSkip          = "skip"
	OverlapQueueOne      = "queue_one"
	OverlapCancelRunning = "cancel_running"
)

// Overdue reports whether a success is looked for at now.
func (s *Schedule) Overdue(now time.Time) bool {
	return !s.State.ExpectBy.IsZero() && !s.State.ExpectBy.After(now)
}

// covered is the form in which stores keep what a run made up late stands for.
type covered struct {
	CatchUp bool      `json:"catch_up,omitempty"`
	Count   int64     `json:"count,omitempty"`
	From    time.Time `json:"from,omitzero"`
}

// EncodeCovers returns what a store keeps of a run beside its schedule and instant; nil for a punctual run.
func EncodeCovers(r *Run) ([]byte, error) {
	if r == nil || !r.CatchUp && r.Covers <= 1 {
		return nil, nil
	}
	return json.Marshal(covered{CatchUp: r.CatchUp, Count: r.Covers, From: r.CoversFrom})
}

// DecodeCovers returns the run of a schedule's instant. Damaged data reads as punctual.
func DecodeCovers(schedule string, scheduledFor time.Time, text []byte) *Run {
	r := &Run{Schedule: schedule, ScheduledFor: scheduledFor}
	var c covered
	if len(text) > 0 && json.Unmarshal(text, &c) == nil {
		r.CatchUp, r.Covers, r.CoversFrom = c.CatchUp, c.Count, c.From
	}
	return r
}
