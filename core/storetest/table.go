package storetest

import (
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// A cell of the transition table: what an event makes of a job in a state.
type cell struct {
	event  string
	state  string // a status, or "wanted": running and cancel wanted
	want   core.Status
	token  int64  // how far the lease token rises
	charge int    // how the attempts change
	answer string // "ok", "stale", "wanted", "conflict", "none" (nothing came back), "repeat"
}

// open is a charge the table leaves open: whether a snooze that becomes a cancel was an attempt.
const open = 99

// states in the order of the table's columns. The second and third ends stand for the column "done, cancelled".
var states = []string{"scheduled", "queued", "running", "wanted", "done", "cancelled", "failed"}

const (
	sch, que, run, don, can, fai = core.Scheduled, core.Queued, core.Running, core.Done, core.Cancelled, core.Failed
)

// row builds the cells of one event: a cell given stands, of the others the answer is rest and nothing changes.
func row(event, rest string, given ...cell) []cell {
	cells := make([]cell, 0, len(states))
	for i, state := range states {
		c := cell{event, state, []core.Status{sch, que, run, run, don, can, fai}[i], 0, 0, rest}
		for _, g := range given {
			if g.state == state {
				g.event = event
				c = g
			}
		}
		cells = append(cells, c)
	}
	return cells
}

// table is the transition table of the design, cell by cell.
func table() [][]cell {
	ended := []cell{{state: "done", want: don, answer: "conflict"}, {state: "cancelled", want: can, answer: "conflict"}, {state: "failed", want: fai, answer: "conflict"}}
	wanted := func(c cell) cell {
		if c.charge != 0 {
			c.charge = open
		}
		return cell{state: "wanted", want: can, charge: c.charge, answer: "ok"}
	}
	end := func(event string, c cell) []cell {
		if c.want == don {
			return row(event, "stale", c, cell{state: "wanted", want: don, answer: "ok"}, cell{state: "done", want: don, answer: "repeat"}, cell{state: "failed", want: fai, answer: "repeat"})
		}
		return row(event, "stale", c, wanted(c), cell{state: "done", want: don, answer: "repeat"}, cell{state: "failed", want: fai, answer: "repeat"})
	}
	return [][]cell{
		row("dispatch", "none", cell{state: "scheduled", want: que, answer: "ok"}),
		row("direct claim", "none", cell{state: "scheduled", want: run, token: 1, charge: 1, answer: "ok"}),
		row("dispatch lease passed", "none", cell{state: "queued", want: que, answer: "ok"}),
		row("start", "none", cell{state: "queued", want: run, token: 1, charge: 1, answer: "ok"}),
		row("start with an old token", "none"),
		row("no handler here", "none", cell{state: "queued", want: sch, token: 1, answer: "none"}),
		row("heartbeat", "stale", cell{state: "running", want: run, answer: "ok"}, cell{state: "wanted", want: run, answer: "wanted"}),
		row("heartbeat with an old token", "stale"),
		end("finish done", cell{state: "running", want: don, answer: "ok"}),
		end("finish retry", cell{state: "running", want: sch, token: 1, answer: "ok"}),
		end("finish fail", cell{state: "running", want: fai, answer: "ok"}),
		end("snooze", cell{state: "running", want: sch, token: 1, charge: -1, answer: "ok"}),
		end("hand back", cell{state: "running", want: sch, token: 1, charge: -1, answer: "ok"}),
		row("finish with an old token", "stale"),
		row("lease passed", "none", cell{state: "running", want: sch, token: 1, answer: "ok"}, cell{state: "wanted", want: can, answer: "ok"}),
		row("lease passed, uncounted", "none", cell{state: "running", want: sch, token: 1, charge: -1, answer: "ok"}, cell{state: "wanted", want: can, charge: open, answer: "ok"}),
		row("cancel", "conflict", cell{state: "scheduled", want: can, token: 1, answer: "ok"}, cell{state: "queued", want: can, token: 1, answer: "ok"}, cell{state: "running", want: run, answer: "wanted"}, cell{state: "wanted", want: run, answer: "wanted"}),
		row("reschedule", "conflict", cell{state: "scheduled", want: sch, answer: "ok"}, cell{state: "queued", want: sch, token: 1, answer: "ok"}),
		row("retry", "conflict", append(ended[:2:2], cell{state: "failed", want: sch, token: 1, charge: -1, answer: "ok"})...),
		row("expires_at passed", "none", cell{state: "scheduled", want: can, answer: "ok"}, cell{state: "queued", want: can, answer: "none"}),
	}
}

func tableScenarios() []scenario {
	var all []scenario
	for _, cells := range table() {
		all = append(all, scenario{"Transition/" + cells[0].event, func(s *stage) {
			for _, c := range cells {
				s.sub(c.state, func(s *stage) { c.check(s) })
			}
		}})
	}
	return all
}

func (c cell) check(s *stage) {
	job := core.NewJob{Type: s.newType(), MaxAttempts: 3}
	if c.event == "expires_at passed" {
		job.ExpiresAt = s.now().Add(time.Hour)
	}
	before := c.place(s, job)
	answer := c.act(s, before)
	if c.event == "hand back" && c.state == "queued" && answer == "ok" {
		answer = "stale" // that it stays queued is all that matters: a store may say so or call it stale
	}
	got := s.get(before.ID)
	if answer != c.answer {
		s.Errorf("%s × %s answered %s, want %s", c.event, c.state, answer, c.answer)
	}
	if got.Status != c.want || c.charge != open && got.Attempts != before.Attempts+c.charge {
		s.Errorf("%s × %s: want %s and %d attempts, got %s and %d", c.event, c.state, c.want, before.Attempts+c.charge, got.Status, got.Attempts)
	}
	rise := got.LeaseToken - before.LeaseToken
	if got.Status.Live() && rise != c.token || rise < c.token || got.Status == before.Status && rise != c.token {
		s.Errorf("%s × %s: the token rose by %d, want %d", c.event, c.state, rise, c.token)
	}
	if wanted := c.state == "wanted" || c.event == "cancel" && c.state == "running"; got.Status.Live() && got.CancelWanted != wanted {
		s.Errorf("%s × %s: cancel wanted is %t", c.event, c.state, got.CancelWanted)
	}
	if got.Status == can && before.Status != can {
		if reason := map[bool]string{true: "expired", false: "cancelled"}[c.event == "expires_at passed"]; got.Reason != reason {
			s.Errorf("%s × %s: the reason is %q, want %q", c.event, c.state, got.Reason, reason)
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

// act lets the event happen and says how it was answered.
func (c cell) act(s *stage, job core.Job) string {
	s.Helper()
	end := core.End{Ref: refOf(job), Errors: oneError(job, "no")}
	if job.Status == don || job.Status == fai {
		end.Token = job.EndedToken
	}
	old := core.Ref{ID: job.ID, Token: job.LeaseToken - 1}
	switch c.event {
	case "dispatch":
		return came(s.dispatch(job.Type, 1))
	case "direct claim":
		return came(s.claim(job.Type, 1))
	case "dispatch lease passed":
		s.advance(dispatchLease + time.Second)
		return came(ofType(s.tick(tickRequest("holder-1")).Dispatched, job.Type))
	case "start":
		return came(s.start(refOf(job)).Jobs)
	case "start with an old token":
		return came(s.start(old).Jobs)
	case "no handler here":
		s.must(s.store.Unhandled(s.ctx, []core.Ref{refOf(job)}))
		return "none"
	case "heartbeat":
		return beatAnswer(s.beat(refOf(job)))
	case "heartbeat with an old token":
		return beatAnswer(s.beat(old))
	case "finish done":
		end.Outcome = core.EndDone
	case "finish retry":
		end.Outcome = core.EndRetry
	case "finish fail":
		end.Outcome = core.EndFail
	case "snooze":
		end.Outcome = core.EndSnooze
	case "hand back":
		end.Outcome = core.EndHandBack
	case "finish with an old token":
		end.Outcome, end.Ref = core.EndDone, old
	case "lease passed":
		return c.reap(s, job, core.EndRetry)
	case "lease passed, uncounted":
		return c.reap(s, job, core.EndLoss)
	case "cancel", "reschedule", "retry":
		return c.operate(s, job)
	case "expires_at passed":
		return c.expire(s, job)
	}
	return endAnswer(s.finish(end))
}

func (c cell) reap(s *stage, job core.Job, outcome core.Outcome) string {
	s.Helper()
	s.advance(lease + time.Second)
	for _, lost := range s.tick(tickRequest("holder-1")).Lost {
		if lost.ID == job.ID {
			return endAnswer(s.finish(core.End{Ref: refOf(lost), Outcome: outcome, Wait: time.Second, Errors: oneError(lost, "lost"), Lost: true}))
		}
	}
	return "none"
}

func (c cell) operate(s *stage, job core.Job) (answer string) {
	s.Helper()
	var got core.Job
	var err error
	switch c.event {
	case "cancel":
		got, err = s.store.Cancel(s.ctx, job.ID)
	case "reschedule":
		got, err = s.store.Reschedule(s.ctx, job.ID, core.When{Delay: time.Hour})
	case "retry":
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

func (c cell) expire(s *stage, job core.Job) string {
	s.Helper()
	s.advance(time.Hour + time.Second)
	if c.state == "queued" {
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
