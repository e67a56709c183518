package work

import "github.com/belfry-dev/belfry/core"

// EventKind says what happened to a Worker.
type EventKind string

// The kinds of events. An outage is reported at its beginning and end, every other event each time.
const (
	StoreLost      EventKind = "store lost"      // claims or heartbeats fail with Err
	StoreBack      EventKind = "store back"      // they succeed again
	LeaseLost      EventKind = "lease lost"      // the handler of Job was told to stop: its lease cannot be extended
	Registered     EventKind = "registered anew" // after lost leases the worker goes on under the id in Worker
	Leaked         EventKind = "handler leaked"  // the handler of Job ignores the end of its context; its slot is free again
	SuspectRuns    EventKind = "suspect runs"    // Job was lost with its worker several times (Err says how often) and runs beside few other such jobs
	LateResult     EventKind = "late result"     // a leaked handler of Job returned; its result is refused
	Panicked       EventKind = "handler panicked"
	EndStale       EventKind = "end stale"       // the end of Job was not recorded: another worker has the job
	EndRefused     EventKind = "end refused"     // the store refuses the end of Job with Err; it is sent again a few times
	EndDropped     EventKind = "end dropped"     // the store repeatedly refuses the end of Job with Err; its lease will expire
	MessageRefused EventKind = "message refused" // a message that is not Belfry's was dead-lettered or deleted; Err says why
	QueueLost      EventKind = "queue lost"      // the subscription of Priority ended with Err and is opened again
	QueueBack      EventKind = "queue back"      // it receives again
)

// Event is passed to OnEvent. Fields that do not apply are zero.
type Event struct {
	Kind     EventKind
	Worker   string
	Job      core.Ref
	Type     string
	Priority core.Priority
	Group    string // the group of types whose queue was lost or is back
	Err      error
}

// event reports to the host, one event at a time.
func (w *Worker) event(e Event) {
	if w.opts.OnEvent == nil {
		return
	}
	e.Worker = *w.name.Load()
	w.events.Lock()
	defer w.events.Unlock()
	w.opts.OnEvent(e)
}

// eventOf reports an event of one attempt.
func (w *Worker) eventOf(kind EventKind, a *attempt, err error) {
	w.event(Event{Kind: kind, Job: a.ref, Type: a.typ, Priority: a.priority, Err: err})
}
