package tick

import "github.com/belfry-dev/belfry/core"

// EventKind says what happened to a Ticker.
type EventKind string

// What an operator should know. Of failed passes in a row the first is told, the first of each other fault, and then
// one every half minute.
const (
	TickFailed     EventKind = "tick failed"       // a pass ended with Err; Count such passes since the last word
	TickRecovered  EventKind = "tick recovered"    // the first pass that succeeded after Count failed ones
	LeasesLost     EventKind = "leases lost"       // another scheduler took buckets that were held here
	JobsLost       EventKind = "jobs lost"         // Count attempts ended because their worker's lease had passed
	JobsUnreported EventKind = "jobs not reported" // Count attempts ended because the target that had accepted them did not report in time
	JobSuspected   EventKind = "job suspected"     // Count runs of Job in a row were lost: it runs beside few other suspects from now on
	JobQuarantined EventKind = "job quarantined"   // Count runs of Job in a row were lost: it failed for good
	RowSetApart    EventKind = "row set apart"     // Fault raises an error: work on many rows passes over it until it is met again
	PublishFailed  EventKind = "publish failed"    // Count messages are not known to be published; they will be again
	MaintainFailed EventKind = "maintain failed"   // upkeep ended with Err and will be tried again
	Maintained     EventKind = "maintained"        // upkeep did what Upkeep says

	ScheduleBroken  EventKind = "schedule broken"  // the rule of a schedule, damaged by hand, cannot be read: Err
	ZonesRecomputed EventKind = "zones recomputed" // Count schedules got their next instant by another time zone database
	AlertsUnsent    EventKind = "alerts unsent"    // Count alerts were not published, for Err; they will be tried again
)

// Event is told to OnEvent.
type Event struct {
	Kind   EventKind
	Err    error
	Count  int
	Job    int64  // 0 where the event is about no single job
	Type   string // of Job
	Fault  core.RowFault
	Upkeep core.MaintainResult
}

// event tells the host, one event at a time.
func (t *Ticker) event(e Event) {
	if t.opts.OnEvent == nil {
		return
	}
	t.events.Lock()
	defer t.events.Unlock()
	t.opts.OnEvent(e)
}
