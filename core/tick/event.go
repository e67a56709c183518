package tick

import "github.com/belfry-dev/belfry/core"

// EventKind says what happened to a Ticker.
type EventKind string

// Events for an operator. Of repeated failures of passes, the first is reported, then the first with another cause, and then
// one every half minute.
const (
	TickFailed     EventKind = "tick failed"       // a pass ended with Err; Count failed passes since the last event
	TickRecovered  EventKind = "tick recovered"    // the first pass that succeeded after Count failed ones
	LeasesLost     EventKind = "leases lost"       // another scheduler took buckets from this one
	JobsLost       EventKind = "jobs lost"         // Count attempts ended because their worker's lease had expired
	JobsUnreported EventKind = "jobs not reported" // Count attempts ended because the target that accepted them did not report in time
	JobSuspected   EventKind = "job suspected"     // Count runs of Job in a row were lost: from now on it runs beside few other suspects
	JobQuarantined EventKind = "job quarantined"   // Count runs of Job in a row were lost: it failed for good
	RowSetApart    EventKind = "row set apart"     // the row in Fault raises an error: bulk work skips it until its next try
	PublishFailed  EventKind = "publish failed"    // Count messages may not have been published; they will be sent again
	MaintainFailed EventKind = "maintain failed"   // upkeep failed with Err and will be tried again
	Maintained     EventKind = "maintained"        // upkeep finished with the result in Upkeep

	ScheduleBroken  EventKind = "schedule broken"  // the rule of a schedule was damaged by hand and cannot be read: Err
	ZonesRecomputed EventKind = "zones recomputed" // the next instants of Count schedules were computed with the new time zone database
	AlertsUnsent    EventKind = "alerts unsent"    // Count alerts failed to be published because of Err; they will be tried again
)

// Event is passed to OnEvent.
type Event struct {
	Kind   EventKind
	Err    error
	Count  int
	Job    int64  // 0 if the event is not about one job
	Type   string // of Job
	Fault  core.RowFault
	Upkeep core.MaintainResult
}

// event calls OnEvent, for one event at a time.
func (t *Ticker) event(e Event) {
	if t.opts.OnEvent == nil {
		return
	}
	t.events.Lock()
	defer t.events.Unlock()
	t.opts.OnEvent(e)
}
