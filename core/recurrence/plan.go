package recurrence

import "time"

// MissedPolicy is what becomes of instants that were not met in time.
type MissedPolicy string

const (
	MissedAll  MissedPolicy = "all"  // a late run for each, oldest first
	MissedOnce MissedPolicy = "once" // one late run, for the last, that covers the others
	MissedSkip MissedPolicy = "skip" // none
)

// OverlapPolicy is what becomes of a run that comes due while the schedule's previous run is active.
type OverlapPolicy string

const (
	OverlapAllow         OverlapPolicy = "allow"          // it is made all the same
	OverlapSkip          OverlapPolicy = "skip"           // it is not made
	OverlapQueueOne      OverlapPolicy = "queue_one"      // it is made and waits, unless one waits already
	OverlapCancelRunning OverlapPolicy = "cancel_running" // it is made and the previous one is cancelled
)

// DefaultMissedLimit and DefaultGrace are what a schedule has that names neither.
const (
	DefaultMissedLimit = 1000
	DefaultGrace       = 30 * time.Second
	DefaultMaxRuns     = 1000
)

// Policy is what a schedule has chosen for the instants that come due.
type Policy struct {
	Missed  MissedPolicy  // Zero means MissedOnce.
	Window  time.Duration // what was missed longer ago is skipped, by all and once. Zero means no bound.
	Limit   int           // late runs that MissedAll makes of one backlog, the newest. Zero means DefaultMissedLimit.
	Grace   time.Duration // later than this is missed; see Grace. Zero means DefaultGrace.
	Overlap OverlapPolicy // Zero means OverlapAllow.
}

// Grace is how late an instant may be met without being missed: the schedule's missed_grace (0 means
// DefaultGrace), but no less than twice the tick period and the time a takeover takes.
func Grace(missedGrace, tickPeriod, takeover time.Duration) time.Duration {
	if missedGrace <= 0 {
		missedGrace = DefaultGrace
	}
	return max(missedGrace, 2*tickPeriod+takeover)
}

// State is what is known of a schedule before a plan, and after it.
type State struct {
	// Next is the first instant that is not accounted for: due, or dropped for daylight saving. It is the stored
	// next_due. Zero means that there is none any more.
	Next time.Time

	// PausedFrom to PausedUntil is the last pause. PausedUntil zero, PausedFrom not: paused now, and instants
	// from PausedFrom on are left for later. Instants within an ended pause are missed, however late they are.
	PausedFrom, PausedUntil time.Time

	Active  bool // the schedule's previous run has not ended
	Waiting bool // a run of queue_one waits for it

	// KeepFrom goes from a plan with More to the one that goes on with it: the limit has been settled, and what
	// was missed from there on is made. Lost between the two, the limit is counted anew. Zero otherwise.
	KeepFrom time.Time
}

// Start is the state of a schedule that is new, or whose rule was changed, at now: it has nothing to make up.
func (r *Rule) Start(now time.Time) State { return State{Next: r.NextToAccount(now)} }

// Recompute is the state when the zone's data has changed (ZoneHash): what had come due by now stays due, what lies
// ahead is where the new data puts it. Nothing new comes due in the past.
func (r *Rule) Recompute(state State, now time.Time) State {
	from := now
	if before := state.Next.Add(-1); !state.Next.IsZero() && before.Before(now) {
		from = before
	}
	state.Next = r.NextToAccount(from)
	return state
}

// NextToAccount returns the first instant after t for which the ledger gets an entry: an occurrence or one that
// is dropped for daylight saving. Zero if there is none.
func (r *Rule) NextToAccount(t time.Time) time.Time {
	steps := 0
	m, ok := r.nextAt(r.floor(t)+1, true, &steps)
	if !ok {
		return time.Time{}
	}
	return r.time(m.at)
}

// Entry is one row of the ledger: a range of instants, with none of another fate between them.
type Entry struct {
	From, To time.Time
	Count    int64
	Outcome  Outcome
	Reason   Reason // of Skipped
}

// Run is one job to make.
type Run struct {
	ScheduledFor           time.Time
	CatchUp                bool      // it is made late, for what was missed
	Covers                 int64     // how many occurrences it stands for, itself among them
	CoversFrom, CoversTo   time.Time // the first and the last of them; CoversTo is ScheduledFor
	Waits, CancelsPrevious bool      // by queue_one and cancel_running
}

// Planned is what is to be written in one transaction.
type Planned struct {
	Entries []Entry // oldest first; together they account for every instant from the old state's Next to the new
	Runs    []Run   // oldest first
	Limited int64   // how many instants were skipped for the limit: an alert is due where it is not 0
	State   State   // afterwards
	More    bool    // there is more to do at this now: call again with State
}

// Plan decides what becomes of every instant from state.Next to now. It makes at most maxRuns runs (0 means
// DefaultMaxRuns), and one for what it covers; what needs no run is a few ranges, however many instants they hold. The same arguments give
// the same plan. The work is that of Spans, and of one search for each run and each instant kept by the limit.
//
// An instant is missed when it is more than Grace ago or within an ended pause. Of those, the ones older than
// Window and then all but the newest Limit are skipped; the rest fares as Missed says. An instant that is not
// missed is fired. Each run is then held against Overlap, in order; a run that this plan makes is active for the
// ones that follow it. With cancel_running only the newest run is made, since it would cancel the others.
// Where a run that covers others is not made, they share its fate.
func (r *Rule) Plan(state State, now time.Time, policy Policy, maxRuns int) Planned {
	p := newPlanner(r, state, now, policy, maxRuns)
	if !state.Next.IsZero() && p.from <= p.to {
		for _, s := range p.sections() {
			if !p.walk(s) {
				break
			}
		}
	}
	return p.finish()
}

// Outcome is what became of a due instant.
type Outcome string

const (
	Fired    Outcome = "fired"     // a run was made in time
	CaughtUp Outcome = "caught_up" // a run was made late
	Covered  Outcome = "covered"   // a later instant's late run stands for it
	Skipped  Outcome = "skipped"   // no run was made, for a Reason
)

// Reason says why an instant was skipped.
type Reason string

const (
	ReasonMissed     Reason = "missed"  // it was late, and the schedule skips what it missed
	ReasonOverlap    Reason = "overlap" // the schedule's previous run was still active
	ReasonPaused     Reason = "paused"  // the schedule was paused, and skips what it missed
	ReasonWindow     Reason = "window"  // older than missed_window
	ReasonLimit      Reason = "limit"   // more were missed than missed_limit
	ReasonDSTGap     Reason = "dst_gap"
	ReasonDSTOverlap Reason = "dst_overlap"
)
