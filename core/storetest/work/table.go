package work

import (
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/states"
	"github.com/belfry-dev/belfry/core/storetest"
)

// An act is an event of states.Transition as a caller causes it.
type act struct {
	name  string
	event states.Event
	facts states.Facts
}

// acts are tried on a job in each state: every event except those that a store only sees as an end (package decide chooses
// those).
var acts = []act{
	{"dispatch", states.EventDispatch, states.Facts{}},
	{"direct claim", states.EventClaim, states.Facts{}},
	{"dispatch lease passed", states.EventRepublish, states.Facts{}},
	{"start", states.EventStart, states.Facts{}},
	{"start with an old token", states.EventStart, states.Facts{WrongToken: true}},
	{"no handler here", states.EventUnhandled, states.Facts{}},
	{"heartbeat", states.EventHeartbeat, states.Facts{}},
	{"heartbeat with an old token", states.EventHeartbeat, states.Facts{WrongToken: true}},
	{"finish done", states.EventDone, states.Facts{}},
	{"finish retry", states.EventError, states.Facts{}},
	{"finish fail", states.EventError, states.Facts{Permanent: true}},
	{"snooze", states.EventSnooze, states.Facts{}},
	{"hand back", states.EventHandBack, states.Facts{}},
	{"finish with an old token", states.EventDone, states.Facts{WrongToken: true}},
	{"lease passed", states.EventLost, states.Facts{LossCounts: true}},
	{"lease passed, uncounted", states.EventLost, states.Facts{}},
	{"cancel", states.EventCancel, states.Facts{}},
	{"reschedule", states.EventReschedule, states.Facts{}},
	{"retry", states.EventRetry, states.Facts{}},
	{"expires_at passed", states.EventExpire, states.Facts{}},
}

// A cell of the table: the effect of an act on a job in a state.
type cell struct {
	act
	state  string // a status, or "wanted": running and cancel wanted
	answer string // "ok", "stale", "wanted", "conflict", "none" (nothing came back), "repeat"
	move   states.Move
}

// jobStates are in the order of the table's columns. The last three are the columns "done, cancelled" and "failed".
var jobStates = []string{"scheduled", "queued", "running", "wanted", "done", "cancelled", "failed"}

const (
	que, run, don, can, fai = core.Queued, core.Running, core.Done, core.Cancelled, core.Failed
)

// newCell asks states.Transition for the effect of the act in the state.
func newCell(a act, state string) cell {
	from, facts := run, a.facts
	facts.CancelWanted = state == "wanted"
	if state != "wanted" {
		from, _ = core.ParseStatus(state)
	}
	c := cell{act: a, state: state, move: states.Transition(from, a.event, facts)}
	switch {
	case a.ends() && !facts.WrongToken && (from == don || from == fai):
		c.answer = "repeat" // with the token under which it ended
	case c.move.Verdict == states.Conflict:
		c.answer = "conflict"
	case c.move.Verdict == states.Wanted, c.move.Verdict == states.Applied && a.event == states.EventHeartbeat && facts.CancelWanted:
		c.answer = "wanted"
	case a.event == states.EventUnhandled, a.event == states.EventExpire && from == que:
		c.answer = "none" // the row changes, and the call returns nothing
	case c.move.Verdict == states.Stale && a.event != states.EventStart, a.event == states.EventHandBack && from == que:
		c.answer = "stale" // a job handed back before it started stays queued; a store may call that stale
	case c.move.Verdict == states.Applied:
		c.answer = "ok"
	default:
		c.answer = "none"
	}
	return c
}

// ends reports whether the act is an end that a worker sends.
func (a act) ends() bool {
	switch a.event {
	case states.EventDone, states.EventError, states.EventSnooze, states.EventHandBack:
		return true
	}
	return false
}

func tableScenarios() []storetest.Scenario {
	var all []storetest.Scenario
	for _, a := range acts {
		all = append(all, storetest.Scenario{Name: "Transition/" + a.name, Run: func(s *storetest.Stage) {
			for _, state := range jobStates {
				s.Sub(state, func(s *storetest.Stage) { newCell(a, state).check(s) })
			}
		}})
	}
	return all
}

// attempts checks a job's attempts after the act. A snooze or a loss that becomes a cancel may or may not count as an
// attempt.
func (c cell) attempts(before core.Job, got int) (want int, ok bool) {
	want = before.Attempts + c.move.Attempts
	if c.move.Reset {
		want = 0
	}
	uncharged := c.event == states.EventSnooze || c.event == states.EventLost && !c.facts.LossCounts
	return want, got == want || c.state == "wanted" && uncharged && got == want-1
}

func (c cell) check(s *storetest.Stage) {
	job := core.NewJob{Type: s.NewType(), MaxAttempts: 3}
	if c.event == states.EventExpire {
		job.ExpiresAt = s.Now().Add(time.Hour)
	}
	before := c.place(s, job)
	answer := c.act.do(s, before)
	if c.event == states.EventHandBack && before.Status == que && answer == "ok" {
		answer = "stale"
	}
	got := s.Get(before.ID)
	if answer != c.answer {
		s.Errorf("%s × %s answered %s, want %s", c.name, c.state, answer, c.answer)
	}
	if attempts, ok := c.attempts(before, got.Attempts); got.Status != c.move.Next || !ok {
		s.Errorf("%s × %s: want %s and %d attempts, got %s and %d", c.name, c.state, c.move.Next, attempts, got.Status, got.Attempts)
	}
	token := int64(c.move.Token)
	rise := got.LeaseToken - before.LeaseToken
	if got.Status.Live() && rise != token || rise < token || got.Status == before.Status && rise != token {
		s.Errorf("%s × %s: the token rose by %d, want %d", c.name, c.state, rise, token)
	}
	if wanted := c.state == "wanted" || c.event == states.EventCancel && c.state == "running"; got.Status.Live() && got.CancelWanted != wanted {
		s.Errorf("%s × %s: cancel wanted is %t", c.name, c.state, got.CancelWanted)
	}
	if got.Status == can && before.Status != can {
		if reason := map[bool]string{true: "expired", false: "cancelled"}[c.event == states.EventExpire]; got.Reason != reason {
			s.Errorf("%s × %s: the reason is %q, want %q", c.name, c.state, got.Reason, reason)
		}
	}
}

// place brings a new job into the cell's state.
func (c cell) place(s *storetest.Stage, job core.NewJob) core.Job {
	s.Helper()
	if c.state == "wanted" {
		s.Cancel(s.Put(run, job).ID)
		return s.Get(s.List(core.ListQuery{Type: job.Type, Limit: 1})[0].ID)
	}
	status, err := core.ParseStatus(c.state)
	s.Must(err)
	return s.Put(status, job)
}

// do causes the event and returns the kind of answer.
func (a act) do(s *storetest.Stage, job core.Job) string {
	s.Helper()
	ref := storetest.RefOf(job)
	if a.facts.WrongToken {
		ref.Token--
	}
	switch a.event {
	case states.EventDispatch:
		return came(s.Dispatch(job.Type, 1))
	case states.EventClaim:
		return came(s.Claim(job.Type, 1))
	case states.EventRepublish:
		s.Advance(storetest.DispatchLease + time.Second)
		return came(ofType(s.Tick(storetest.TickRequest("holder-1")).Dispatched, job.Type))
	case states.EventStart:
		return came(s.Start(ref).Jobs)
	case states.EventUnhandled:
		s.Must(s.Store.Unhandled(s.Ctx, []core.Ref{ref}))
		return "none"
	case states.EventHeartbeat:
		return beatAnswer(s.Beat(ref))
	case states.EventLost:
		return a.reap(s, job)
	case states.EventCancel, states.EventReschedule, states.EventRetry:
		return a.operate(s, job)
	case states.EventExpire:
		return expire(s, job)
	}
	end := core.End{Ref: ref, Outcome: a.outcome(), Errors: storetest.OneError(job, "no")}
	if !a.facts.WrongToken && (job.Status == don || job.Status == fai) {
		end.Token = job.EndedToken
	}
	return endAnswer(s.Finish(end))
}

// outcome returns the end that a worker sends.
func (a act) outcome() core.Outcome {
	switch {
	case a.event == states.EventDone:
		return core.EndDone
	case a.event == states.EventSnooze:
		return core.EndSnooze
	case a.event == states.EventHandBack:
		return core.EndHandBack
	case a.facts.Permanent:
		return core.EndFail
	}
	return core.EndRetry
}

func (a act) reap(s *storetest.Stage, job core.Job) string {
	s.Helper()
	outcome := core.EndLoss
	if a.facts.LossCounts {
		outcome = core.EndRetry
	}
	s.Advance(storetest.Lease + time.Second)
	for _, lost := range s.Tick(storetest.TickRequest("holder-1")).Lost {
		if lost.ID == job.ID {
			return endAnswer(s.Finish(core.End{Ref: storetest.RefOf(lost), Outcome: outcome, Wait: time.Second, Errors: storetest.OneError(lost, "lost"), Lost: true}))
		}
	}
	return "none"
}

func (a act) operate(s *storetest.Stage, job core.Job) (answer string) {
	s.Helper()
	var got core.Job
	var err error
	switch a.event {
	case states.EventCancel:
		got, err = s.Store.Cancel(s.Ctx, job.ID)
	case states.EventReschedule:
		got, err = s.Store.Reschedule(s.Ctx, job.ID, core.When{Delay: time.Hour})
	case states.EventRetry:
		got, err = s.Store.Retry(s.Ctx, job.ID)
	}
	if storetest.IsConflict(err, job.Status) {
		return "conflict"
	}
	s.Must(err)
	if row := s.Get(job.ID); got.ID != row.ID || got.Status != row.Status || got.LeaseToken != row.LeaseToken || !got.RunAt.Equal(row.RunAt) || got.CancelWanted != row.CancelWanted {
		s.Errorf("the answer is not the current job:\n got %+v\nwant %+v", got, row)
	}
	if got.CancelWanted {
		return "wanted"
	}
	return "ok"
}

func expire(s *storetest.Stage, job core.Job) string {
	s.Helper()
	s.Advance(time.Hour + time.Second)
	if job.Status == que {
		return came(s.Start(storetest.RefOf(job)).Jobs)
	}
	if n := s.Tick(storetest.TickRequest("holder-1")).Expired; n > 0 {
		return "ok"
	}
	return "none"
}

func came(jobs []core.Job) string {
	if len(jobs) == 0 {
		return "none"
	}
	return "ok"
}

func ofType(jobs []core.Job, typ string) []core.Job {
	var of []core.Job
	for _, job := range jobs {
		if job.Type == typ {
			of = append(of, job)
		}
	}
	return of
}

func beatAnswer(beat core.Beat) string {
	switch beat {
	case core.Beat{}:
		return "ok"
	case core.Beat{CancelWanted: true}:
		return "wanted"
	case core.Beat{Stale: true}:
		return "stale"
	}
	return fmt.Sprintf("%+v", beat)
}

func endAnswer(a core.EndAnswer) string {
	switch {
	case a.Stale && a.Status == 0 && !a.Busy && !a.Repeat:
		return "stale"
	case a.Repeat && !a.Stale && !a.Busy:
		return "repeat"
	case a.Status != 0 && !a.Stale && !a.Busy && !a.Repeat:
		return "ok"
	}
	return fmt.Sprintf("%+v", a)
}
