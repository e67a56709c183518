package storetest

import (
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// An act is an event of core.Transition as a caller makes it happen.
type act struct {
	name  string
	event core.Event
	facts core.Facts
}

// acts are what is tried on a job of each state: every event but those a store sees as an end (core decides which).
var acts = []act{
	{"dispatch", core.EventDispatch, core.Facts{}},
	{"direct claim", core.EventClaim, core.Facts{}},
	{"dispatch lease passed", core.EventRepublish, core.Facts{}},
	{"start", core.EventStart, core.Facts{}},
	{"start with an old token", core.EventStart, core.Facts{WrongToken: true}},
	{"no handler here", core.EventUnhandled, core.Facts{}},
	{"heartbeat", core.EventHeartbeat, core.Facts{}},
	{"heartbeat with an old token", core.EventHeartbeat, core.Facts{WrongToken: true}},
	{"finish done", core.EventDone, core.Facts{}},
	{"finish retry", core.EventError, core.Facts{}},
	{"finish fail", core.EventError, core.Facts{Permanent: true}},
	{"snooze", core.EventSnooze, core.Facts{}},
	{"hand back", core.EventHandBack, core.Facts{}},
	{"finish with an old token", core.EventDone, core.Facts{WrongToken: true}},
	{"lease passed", core.EventLost, core.Facts{LossCounts: true}},
	{"lease passed, uncounted", core.EventLost, core.Facts{}},
	{"cancel", core.EventCancel, core.Facts{}},
	{"reschedule", core.EventReschedule, core.Facts{}},
	{"retry", core.EventRetry, core.Facts{}},
	{"expires_at passed", core.EventExpire, core.Facts{}},
}

// A cell of the table: what an act makes of a job in a state.
type cell struct {
	act
	state  string // a status, or "wanted": running and cancel wanted
	answer string // "ok", "stale", "wanted", "conflict", "none" (nothing came back), "repeat"
	move   core.Move
}

// states in the order of the table's columns. The second and third ends stand for the column "done, cancelled".
var states = []string{"scheduled", "queued", "running", "wanted", "done", "cancelled", "failed"}

const (
	que, run, don, can, fai = core.Queued, core.Running, core.Done, core.Cancelled, core.Failed
)

// newCell asks core.Transition what the act does to a job in the state.
func newCell(a act, state string) cell {
	from, facts := run, a.facts
	facts.CancelWanted = state == "wanted"
	if state != "wanted" {
		from, _ = core.ParseStatus(state)
	}
	c := cell{act: a, state: state, move: core.Transition(from, a.event, facts)}
	switch {
	case a.ends() && !facts.WrongToken && (from == don || from == fai):
		c.answer = "repeat" // by the token under which it ended
	case c.move.Verdict == core.Conflict:
		c.answer = "conflict"
	case c.move.Verdict == core.Wanted, c.move.Verdict == core.Applied && a.event == core.EventHeartbeat && facts.CancelWanted:
		c.answer = "wanted"
	case a.event == core.EventUnhandled, a.event == core.EventExpire && from == que:
		c.answer = "none" // the row changes, and the call brings nothing back
	case c.move.Verdict == core.Stale && a.event != core.EventStart, a.event == core.EventHandBack && from == que:
		c.answer = "stale" // what is handed back before it started stays queued: a store may call that stale
	case c.move.Verdict == core.Applied:
		c.answer = "ok"
	default:
		c.answer = "none"
	}
	return c
}

// ends reports whether the act is an end that a worker sends.
func (a act) ends() bool {
	switch a.event {
	case core.EventDone, core.EventError, core.EventSnooze, core.EventHandBack:
		return true
	}
	return false
}

func tableScenarios() []scenario {
	var all []scenario
	for _, a := range acts {
		all = append(all, scenario{"Transition/" + a.name, func(s *stage) {
			for _, state := range states {
				s.sub(state, func(s *stage) { newCell(a, state).check(s) })
			}
		}})
	}
	return all
}

// attempts says what a job's attempts may be after the act. A snooze or a loss that becomes a cancel may have been an
// attempt or not.
func (c cell) attempts(before core.Job, got int) (want int, ok bool) {
	want = before.Attempts + c.move.Attempts
	if c.move.Reset {
		want = 0
	}
	uncharged := c.event == core.EventSnooze || c.event == core.EventLost && !c.facts.LossCounts
	return want, got == want || c.state == "wanted" && uncharged && got == want-1
}

func (c cell) check(s *stage) {
	job := core.NewJob{Type: s.newType(), MaxAttempts: 3}
	if c.event == core.EventExpire {
		job.ExpiresAt = s.now().Add(time.Hour)
	}
	before := c.place(s, job)
	answer := c.act.do(s, before)
	if c.event == core.EventHandBack && before.Status == que && answer == "ok" {
		answer = "stale"
	}
	got := s.get(before.ID)
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
	if wanted := c.state == "wanted" || c.event == core.EventCancel && c.state == "running"; got.Status.Live() && got.CancelWanted != wanted {
		s.Errorf("%s × %s: cancel wanted is %t", c.name, c.state, got.CancelWanted)
	}
	if got.Status == can && before.Status != can {
		if reason := map[bool]string{true: "expired", false: "cancelled"}[c.event == core.EventExpire]; got.Reason != reason {
			s.Errorf("%s × %s: the reason is %q, want %q", c.name, c.state, got.Reason, reason)
		}
	}
}

// place brings a new job to the cell's state.
func (c cell) place(s *stage, job core.NewJob) core.Job {
	s.Helper()
	if c.state == "wanted" {
		s.cancel(s.put(run, job).ID)
		return s.get(s.list(core.ListQuery{Type: job.Type, Limit: 1})[0].ID)
	}
	status, err := core.ParseStatus(c.state)
	s.must(err)
	return s.put(status, job)
}

// do lets the event happen and says how it was answered.
func (a act) do(s *stage, job core.Job) string {
	s.Helper()
	ref := refOf(job)
	if a.facts.WrongToken {
		ref.Token--
	}
	switch a.event {
	case core.EventDispatch:
		return came(s.dispatch(job.Type, 1))
	case core.EventClaim:
		return came(s.claim(job.Type, 1))
	case core.EventRepublish:
		s.advance(dispatchLease + time.Second)
		return came(ofType(s.tick(tickRequest("holder-1")).Dispatched, job.Type))
	case core.EventStart:
		return came(s.start(ref).Jobs)
	case core.EventUnhandled:
		s.must(s.store.Unhandled(s.ctx, []core.Ref{ref}))
		return "none"
	case core.EventHeartbeat:
		return beatAnswer(s.beat(ref))
	case core.EventLost:
		return a.reap(s, job)
	case core.EventCancel, core.EventReschedule, core.EventRetry:
		return a.operate(s, job)
	case core.EventExpire:
		return expire(s, job)
	}
	end := core.End{Ref: ref, Outcome: a.outcome(), Errors: oneError(job, "no")}
	if !a.facts.WrongToken && (job.Status == don || job.Status == fai) {
		end.Token = job.EndedToken
	}
	return endAnswer(s.finish(end))
}

// outcome is what a worker sends as the end.
func (a act) outcome() core.Outcome {
	switch {
	case a.event == core.EventDone:
		return core.EndDone
	case a.event == core.EventSnooze:
		return core.EndSnooze
	case a.event == core.EventHandBack:
		return core.EndHandBack
	case a.facts.Permanent:
		return core.EndFail
	}
	return core.EndRetry
}

func (a act) reap(s *stage, job core.Job) string {
	s.Helper()
	outcome := core.EndLoss
	if a.facts.LossCounts {
		outcome = core.EndRetry
	}
	s.advance(lease + time.Second)
	for _, lost := range s.tick(tickRequest("holder-1")).Lost {
		if lost.ID == job.ID {
			return endAnswer(s.finish(core.End{Ref: refOf(lost), Outcome: outcome, Wait: time.Second, Errors: oneError(lost, "lost"), Lost: true}))
		}
	}
	return "none"
}

func (a act) operate(s *stage, job core.Job) (answer string) {
	s.Helper()
	var got core.Job
	var err error
	switch a.event {
	case core.EventCancel:
		got, err = s.store.Cancel(s.ctx, job.ID)
	case core.EventReschedule:
		got, err = s.store.Reschedule(s.ctx, job.ID, core.When{Delay: time.Hour})
	case core.EventRetry:
		got, err = s.store.Retry(s.ctx, job.ID)
	}
	if isConflict(err, job.Status) {
		return "conflict"
	}
	s.must(err)
	if row := s.get(job.ID); got.ID != row.ID || got.Status != row.Status || got.LeaseToken != row.LeaseToken || !got.RunAt.Equal(row.RunAt) || got.CancelWanted != row.CancelWanted {
		s.Errorf("the answer is not the job as it now stands:\n got %+v\nwant %+v", got, row)
	}
	if got.CancelWanted {
		return "wanted"
	}
	return "ok"
}

func expire(s *stage, job core.Job) string {
	s.Helper()
	s.advance(time.Hour + time.Second)
	if job.Status == que {
		return came(s.start(refOf(job)).Jobs)
	}
	if n := s.tick(tickRequest("holder-1")).Expired; n > 0 {
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
