package work

import "github.com/belfry-dev/belfry/core"

// EventKind says what happened to a Worker.
type EventKind string

// What an operator should know. Outages are told at their beginning and end, the others each.
const (
	StoreLost      EventKind = "store lost"      // claims or heartbeats fail with Err
	StoreBack      EventKind = "store back"      // they succeed again
	LeaseLost      EventKind = "lease lost"      // the handler of Job is told to stop: its lease cannot be kept
	Registered     EventKind = "registered anew" // after lost leases the worker goes on under the id in Worker
	Leaked         EventKind = "handler leaked"  // the handler of Job ignores the end of its context; its slot is free again
	SuspectRuns    EventKind = "suspect runs"    // Job, lost with its worker time after time as Err says, runs beside few other such jobs
	LateResult     EventKind = "late result"     // a leaked handler of Job returned; its result is refused
	Panicked       EventKind = "handler panicked"
	EndStale       EventKind = "end stale"       // the end of Job was not recorded: the attempt is not this worker's any more
	EndDropped     EventKind = "end dropped"     // the store refuses the end of Job again and again with Err; its lease runs out
	MessageRefused EventKind = "message refused" // a message that is none of ours was put to the dead letters or ended; Err says why
	QueueLost      EventKind = "queue lost"      // the subscription of Priority ended with Err and is opened again
	QueueBack      EventKind = "queue back"      // it receives again
)

// Event is told to OnEvent. Fields that do not apply are zero.
type Event struct {
	Kind     EventKind
	Worker   string
	Job      core.Ref
	Type     string
	Priority core.Priority
	Group    string // of types, whose queue was lost or is back
	Err      error
}

// event tells the host, one event at a time.
func (w *Worker) event(e Event) {
	if w.opts.OnEvent == nil {
		return
	}
	e.Worker = *w.name.Load()
	w.events.Lock()
	defer w.events.Unlock()
	w.opts.OnEvent(e)
}

// eventOf tells of something that happened to one attempt.
func (w *Worker) eventOf(kind EventKind, a *attempt, err error) {
	w.event(Event{Kind: kind, Job: a.ref, Type: a.typ, Priority: a.priority, Err: err})
}
