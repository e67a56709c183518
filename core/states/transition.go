// Package states contains the table of states and events as code. Stores are tested against it.
package states

import "github.com/belfry-dev/belfry/core"

// Event is something that happens to a job.
type Event int8

// The events of the transition table.
const (
	EventDispatch   Event = iota + 1 // the tick or the submitter sends a due job to its queue
	EventClaim                       // a direct worker takes a due job
	EventRepublish                   // the dispatch lease has expired
	EventStart                       // a worker starts the job that its message names
	EventUnhandled                   // a worker refuses a start because it has no handler for the job
	EventHeartbeat                   // a worker extends its lease
	EventDone                        // the handler succeeded
	EventError                       // the handler returned an error
	EventSnooze                      // the handler asked for a later run
	EventAccepted                    // the target accepted the job and reports the end itself
	EventHandBack                    // a stopping worker gives the job back
	EventLost                        // the worker's lease has expired
	EventCancel                      // someone cancels
	EventReschedule                  // someone gives a new run_at
	EventRetry                       // an operator retries a dead letter
	EventExpire                      // expires_at has passed
)

var eventNames = [...]string{
	EventDispatch: "dispatch", EventClaim: "direct claim", EventRepublish: "dispatch lease passed", EventStart: "start",
	EventUnhandled: "start refused", EventHeartbeat: "heartbeat", EventDone: "finish ok", EventError: "finish error",
	EventSnooze: "snooze", EventAccepted: "accepted", EventHandBack: "hand back", EventLost: "lease passed", EventCancel: "cancel",
	EventReschedule: "reschedule", EventRetry: "retry", EventExpire: "expires_at passed",
}

// Events lists all events in the order of the table.
func Events() []Event {
	all := make([]Event, 0, len(eventNames)-1)
	for e := EventDispatch; int(e) < len(eventNames); e++ {
		all = append(all, e)
	}
	return all
}

// String returns the event in words.
func (e Event) String() string {
	if e >= EventDispatch && int(e) < len(eventNames) {
		return eventNames[e]
	}
	return "unknown event"
}

// Facts are the inputs of a transition besides status and event.
type Facts struct {
	WrongToken   bool // the write's token is not the row's token
	CancelWanted bool // the row's cancel_wanted is set
	Permanent    bool // the error is marked permanent
	AttemptsUsed bool // attempts ≥ max_attempts
	SnoozesUsed  bool // snoozes ≥ MaxSnoozes
	LossCounts   bool // the lost run costs an attempt
	LossesUsed   bool // this loss is number MaxLosses in a row, or max_attempts is 1
	Expired      bool // expires_at has passed
	KeyTaken     bool // another live job holds the dedupe key
}

// Verdict is the outcome of an event.
type Verdict int8

// The verdicts.
const (
	Applied  Verdict = iota + 1 // the row changed as described by Move
	Ignored                     // "—" in the table: the event does not occur in this status
	Stale                       // the token or the status has changed: nothing changed
	Conflict                    // 409: the status does not allow it, nothing changed
	Wanted                      // 202: cancel is wanted; the holder's next heartbeat reports it
)

// Move is the change of a job by an event.
type Move struct {
	Verdict  Verdict
	Next     core.Status // the status afterwards
	Token    int         // added to lease_token
	Attempts int         // added to attempts
	Snoozes  int         // added to snoozes
	Reset    bool        // attempts and snoozes become 0 (operator's retry)
}

// Transition is the table of states and events: it returns the move of a job that is in status from when event happens.
// Package storetest checks every store against it. A store makes the same move in one statement.
func Transition(from core.Status, event Event, f Facts) Move {
	stay := func(v Verdict) Move { return Move{Verdict: v, Next: from} }
	switch event {
	case EventDispatch:
		if from == core.Scheduled {
			return Move{Verdict: Applied, Next: core.Queued}
		}
		return stay(Ignored)
	case EventClaim:
		if from == core.Scheduled {
			return claimMove(f)
		}
		return stay(Ignored)
	case EventRepublish:
		if from == core.Queued {
			return stay(Applied)
		}
		return stay(Ignored)
	case EventStart, EventUnhandled:
		return startMove(from, event, f)
	case EventHeartbeat, EventDone, EventError, EventSnooze, EventAccepted, EventHandBack:
		return holderMove(from, event, f)
	case EventLost:
		if from == core.Running {
			return lossMove(f)
		}
		return stay(Ignored)
	case EventCancel, EventReschedule, EventRetry:
		return operatorMove(from, event, f)
	case EventExpire:
		if from == core.Scheduled || from == core.Queued { // a queued job is cancelled when a worker tries to start it
			return Move{Verdict: Applied, Next: core.Cancelled}
		}
		return stay(Ignored)
	}
	return stay(Ignored)
}

// claimMove is the move of a claim or a start that found its row.
func claimMove(f Facts) Move {
	switch {
	case f.Expired:
		return Move{Verdict: Applied, Next: core.Cancelled}
	case f.AttemptsUsed:
		return Move{Verdict: Applied, Next: core.Failed}
	}
	return Move{Verdict: Applied, Next: core.Running, Token: 1, Attempts: 1}
}

func startMove(from core.Status, event Event, f Facts) Move {
	switch {
	case from != core.Queued || f.WrongToken: // a message may outlive the dispatch it belongs to
		return Move{Verdict: Stale, Next: from}
	case event == EventUnhandled:
		return Move{Verdict: Applied, Next: core.Scheduled, Token: 1}
	}
	return claimMove(f)
}

// holderMove is the move of a worker's write with its token.
func holderMove(from core.Status, event Event, f Facts) Move {
	if from == core.Queued && event == EventHandBack && !f.WrongToken {
		return Move{Verdict: Applied, Next: core.Queued} // the job was held and not started: it stays queued
	}
	if from != core.Running || f.WrongToken {
		return Move{Verdict: Stale, Next: from}
	}
	switch event {
	case EventHeartbeat, EventAccepted:
		return Move{Verdict: Applied, Next: core.Running}
	case EventDone:
		return Move{Verdict: Applied, Next: core.Done}
	case EventSnooze:
		if f.SnoozesUsed && !f.CancelWanted {
			return errorMove(f)
		}
		if !f.CancelWanted {
			return Move{Verdict: Applied, Next: core.Scheduled, Token: 1, Attempts: -1, Snoozes: 1}
		}
	case EventHandBack: // the handler was never entered
		if f.CancelWanted {
			return Move{Verdict: Applied, Next: core.Cancelled, Attempts: -1}
		}
		return Move{Verdict: Applied, Next: core.Scheduled, Token: 1, Attempts: -1}
	}
	return errorMove(f)
}

// errorMove is the move of a failed attempt.
func errorMove(f Facts) Move {
	switch {
	case f.CancelWanted:
		return Move{Verdict: Applied, Next: core.Cancelled}
	case f.Permanent || f.AttemptsUsed:
		return Move{Verdict: Applied, Next: core.Failed}
	}
	return Move{Verdict: Applied, Next: core.Scheduled, Token: 1}
}

// lossMove is the move of a run that was lost with its worker.
func lossMove(f Facts) Move {
	switch {
	case f.CancelWanted:
		return Move{Verdict: Applied, Next: core.Cancelled}
	case f.LossesUsed:
		return Move{Verdict: Applied, Next: core.Failed}
	}
	if f.LossCounts {
		return Move{Verdict: Applied, Next: core.Scheduled, Token: 1}
	}
	return Move{Verdict: Applied, Next: core.Scheduled, Token: 1, Attempts: -1}
}

func operatorMove(from core.Status, event Event, f Facts) Move {
	refused := Move{Verdict: Conflict, Next: from}
	switch {
	case event == EventCancel && from == core.Scheduled:
		return Move{Verdict: Applied, Next: core.Cancelled}
	case event == EventCancel && from == core.Queued:
		return Move{Verdict: Applied, Next: core.Cancelled, Token: 1}
	case event == EventCancel && from == core.Running:
		return Move{Verdict: Wanted, Next: core.Running}
	case event == EventReschedule && from == core.Scheduled:
		return Move{Verdict: Applied, Next: core.Scheduled}
	case event == EventReschedule && from == core.Queued:
		return Move{Verdict: Applied, Next: core.Scheduled, Token: 1}
	case event == EventRetry && from == core.Failed && !f.KeyTaken:
		return Move{Verdict: Applied, Next: core.Scheduled, Token: 1, Reset: true}
	}
	return refused
}
