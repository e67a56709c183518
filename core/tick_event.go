package core

// TickEventKind says what happened to a Ticker.
type TickEventKind string

// What an operator should know. Of failed passes in a row the first is told, the first of each other fault, and then
// one every half minute.
const (
	TickFailed     TickEventKind = "tick failed"     // a pass ended with Err; Count such passes since the last word
	TickRecovered  TickEventKind = "tick recovered"  // the first pass that succeeded after Count failed ones
	LeasesLost     TickEventKind = "leases lost"     // another scheduler took buckets that were held here
	JobsLost       TickEventKind = "jobs lost"       // Count attempts ended because their worker's lease had passed
	JobSuspected   TickEventKind = "job suspected"   // Count runs of Job in a row were lost: it runs beside few other suspects from now on
	JobQuarantined TickEventKind = "job quarantined" // Count runs of Job in a row were lost: it failed for good
	RowSetApart    TickEventKind = "row set apart"   // Fault raises an error: work on many rows passes over it until it is met again
	PublishFailed  TickEventKind = "publish failed"  // Count messages are not known to be published; they will be again
	MaintainFailed TickEventKind = "maintain failed" // upkeep ended with Err and will be tried again
	Maintained     TickEventKind = "maintained"      // upkeep did what Upkeep says

	ScheduleBroken  TickEventKind = "schedule broken"  // the rule of a schedule, damaged by hand, cannot be read: Err
	ZonesRecomputed TickEventKind = "zones recomputed" // Count schedules got their next instant by another time zone database
	AlertsUnsent    TickEventKind = "alerts unsent"    // Count alerts were not published, for Err; they will be tried again
)

// TickEvent is told to OnEvent.
type TickEvent struct {
	Kind   TickEventKind
	Err    error
	Count  int
	Job    int64  // 0 where the event is about no single job
	Type   string // of Job
	Fault  RowFault
	Upkeep MaintainResult
}

// event tells the host, one event at a time.
func (t *Ticker) event(e TickEvent) {
	if t.opts.OnEvent == nil {
		return
	}
	t.events.Lock()
	defer t.events.Unlock()
	t.opts.OnEvent(e)
}
