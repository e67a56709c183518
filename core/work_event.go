package core

// WorkEventKind says what happened to a Worker.
type WorkEventKind string

// What an operator should know. Outages are told at their beginning and end, the others each.
const (
	StoreLost      WorkEventKind = "store lost"      // claims or heartbeats fail with Err
	StoreBack      WorkEventKind = "store back"      // they succeed again
	LeaseLost      WorkEventKind = "lease lost"      // the handler of Job is told to stop: its lease cannot be kept
	Registered     WorkEventKind = "registered anew" // after lost leases the worker goes on under the id in Worker
	Leaked         WorkEventKind = "handler leaked"  // the handler of Job ignores the end of its context; its slot is free again
	SuspectRuns    WorkEventKind = "suspect runs"    // Job, lost with its worker time after time as Err says, runs beside few other such jobs
	LateResult     WorkEventKind = "late result"     // a leaked handler of Job returned; its result is refused
	Panicked       WorkEventKind = "handler panicked"
	EndStale       WorkEventKind = "end stale"       // the end of Job was not recorded: the attempt is not this worker's any more
	EndDropped     WorkEventKind = "end dropped"     // the store refuses the end of Job again and again with Err; its lease runs out
	MessageRefused WorkEventKind = "message refused" // a message that is none of ours was put to the dead letters or ended; Err says why
	QueueLost      WorkEventKind = "queue lost"      // the subscription of Priority ended with Err and is opened again
	QueueBack      WorkEventKind = "queue back"      // it receives again
)

// WorkEvent is told to OnEvent. Fields that do not apply are zero.
type WorkEvent struct {
	Kind     WorkEventKind
	Worker   string
	Job      Ref
	Type     string
	Priority Priority
	Group    string // of types, whose queue was lost or is back
	Err      error
}

// event tells the host, one event at a time.
func (w *Worker) event(e WorkEvent) {
	if w.opts.OnEvent == nil {
		return
	}
	e.Worker = *w.name.Load()
	w.events.Lock()
	defer w.events.Unlock()
	w.opts.OnEvent(e)
}

// eventOf tells of something that happened to one attempt.
func (w *Worker) eventOf(kind WorkEventKind, a *attempt, err error) {
	w.event(WorkEvent{Kind: kind, Job: a.ref, Type: a.typ, Priority: a.priority, Err: err})
}
