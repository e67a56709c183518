package recurrence

import "time"

// MissedPolicy decides about instants that were not met in time.
type MissedPolicy string

const (
	MissedAll  MissedPolicy = "all"  // a late run for each instant, oldest first
	MissedOnce MissedPolicy = "once" // one late run, for the last instant, covers the others
	MissedSkip MissedPolicy = "skip" // no late run
)

// OverlapPolicy decides about a run that comes due while the schedule's previous run is active.
type OverlapPolicy string

const (
	OverlapAllow         OverlapPolicy = "allow"          // it is made anyway
	OverlapSkip          OverlapPolicy = "skip"           // it is not made
	OverlapQueueOne      OverlapPolicy = "queue_one"      // it is made and waits, unless another already waits
	OverlapCancelRunning OverlapPolicy = "cancel_running" // it is made and the previous one is cancelled
)

// DefaultMissedLimit and DefaultGrace apply to a schedule that sets neither.
const (
	DefaultMissedLimit = 1000
	DefaultGrace       = 30 * time.Second
	DefaultMaxRuns     = 1000
)

// Policy holds a schedule's choices for instants that come due.
type Policy struct {
	Missed  MissedPolicy  // Zero means MissedOnce.
	Window  time.Duration // all and once skip instants missed longer ago. Zero means no bound.
	Limit   int           // maximum late runs that MissedAll makes for one backlog; it keeps the newest. Zero means DefaultMissedLimit.
	Grace   time.Duration // an instant later than this is missed; see Grace. Zero means DefaultGrace.
	Overlap OverlapPolicy // Zero means OverlapAllow.
}

// Grace returns how late an instant may be handled without being missed: the schedule's missed_grace (0 means DefaultGrace),
// but at least twice the tick period plus the time of a takeover.
func Grace(missedGrace, tickPeriod, takeover time.Duration) time.Duration {
	if missedGrace <= 0 {
		missedGrace = DefaultGrace
	}
	return max(missedGrace, 2*tickPeriod+takeover)
}

// State is the state of a schedule before and after a plan.
type State struct {
	// Next is the first instant that is not accounted for: due, or dropped for daylight saving. It is the stored next_due.
	// Zero means that there is none left.
	Next time.Time

	// PausedFrom to PausedUntil is the last pause. If only PausedFrom is set, the schedule is paused now, and instants from
	// PausedFrom on are left for later. Instants in an ended pause are missed, no matter how late they are.
	PausedFrom, PausedUntil time.Time

	Active  bool // the schedule's previous run has not ended
	Waiting bool // a run of queue_one waits for it

	// KeepFrom is passed from a plan with More to the next one. It says that the limit was applied, and that missed instants
	// from there on get runs. If it is lost in between, the limit is counted again. Zero otherwise.
	KeepFrom time.Time
}

// Start returns the state at now of a schedule that is new or whose rule was changed: it has nothing to make up.
func (r *Rule) Start(now time.Time) State { return State{Next: r.NextToAccount(now)} }

// Recompute returns the state after a change of the zone's data (ZoneHash). Instants that had come due by now stay due;
// later ones follow the new data. No new instant comes due in the past.
func (r *Rule) Recompute(state State, now time.Time) State {
	from := now
	if before := state.Next.Add(-1); !state.Next.IsZero() && before.Before(now) {
		from = before
	}
	state.Next = r.NextToAccount(from)
	return state
}

// NextToAccount returns the first instant after t that gets an entry in the ledger: an occurrence, or an instant dropped for
// daylight saving. Zero if there is none.
func (r *Rule) NextToAccount(t time.Time) time.Time {
	steps := 0
	m, ok := r.nextAt(r.floor(t)+1, true, &steps)
	if !ok {
		return time.Time{}
	}
	return r.time(m.at)
}

// Entry is one row of the ledger: a range of instants with the same outcome.
type Entry struct {
	From, To time.Time
	Count    int64
	Outcome  Outcome
	Reason   Reason // of Skipped
}

// Run is one job to make.
type Run struct {
	ScheduledFor           time.Time
	CatchUp                bool      // it is made late, for missed instants
	Covers                 int64     // number of occurrences that it covers, including its own
	CoversFrom, CoversTo   time.Time // the first and the last of those; CoversTo is ScheduledFor
	Waits, CancelsPrevious bool      // by queue_one and cancel_running
}

// Planned is the set of changes to write in one transaction.
type Planned struct {
	Entries []Entry // oldest first; together they cover every instant from the old state's Next to the new
	Runs    []Run   // oldest first
	Limited int64   // number of instants skipped for the limit; an alert is raised if it is not 0
	State   State   // afterwards
	More    bool    // more is due at the same now: call again with State
}

// Plan decides the outcome of every instant from state.Next to now. It makes at most maxRuns runs (0 means DefaultMaxRuns)
// and one more for the instants that it covers. Instants without a run become a few ranges, however many they are. The same
// arguments give the same plan. The work is that of Spans, plus one search for each run and for each instant kept by the
// limit.
//
// An instant is missed if it is older than Grace or lies in an ended pause. Missed instants older than Window are skipped,
// and then all but the newest Limit. Missed decides about the rest. An instant that is not missed is fired. Then Overlap is
// applied to each run in order; a run of this plan counts as active for the later ones. With cancel_running only the newest
// run is made, since it would cancel the others. If a run that covers others is not made, they get its outcome.
func (r *Rule) Plan(state State, now time.Time, policy Policy, maxRuns int) Planned {
	p := newPlanner(r, state, now, policy, maxRuns)
	if !state.Next.IsZero() && p.from <= p.to {
		for _, s := range p.sections() {
			if !p.accountSection(s) {
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
