package operate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

// moveJobs is the number of jobs that change tables during each call.
const moveJobs = 24

// move is one way in which a row changes its table.
type move struct {
	name     string
	from, to core.Status
	act      func(s *storetest.Stage, job core.Job) error
}

// A call is repeated on jobs while they move. It returns an error if it sees an impossible state.
type call struct {
	name string
	act  func(s *storetest.Stage, m move, jobs []core.Job) error
	// changes lists the statuses in which the call itself may end a job.
	changes []core.Status
	// forestalls says that the call may prevent a move.
	forestalls bool
}

func moves() []move {
	finish := func(outcome core.Outcome) func(s *storetest.Stage, job core.Job) error {
		return func(s *storetest.Stage, job core.Job) error {
			var answer core.EndAnswer
			return storetest.NotBusyEnd(s.Store, s, core.End{Ref: storetest.RefOf(job), Outcome: outcome}, &answer)
		}
	}
	return []move{
		{"running to done", core.Running, core.Done, finish(core.EndDone)},
		{"running to failed", core.Running, core.Failed, finish(core.EndFail)},
		{"scheduled to cancelled", core.Scheduled, core.Cancelled, func(s *storetest.Stage, job core.Job) error {
			return storetest.Tolerant(s, func() error { _, err := s.Store.Cancel(s.Ctx, job.ID); return err })
		}},
		{"queued to cancelled", core.Queued, core.Cancelled, func(s *storetest.Stage, job core.Job) error {
			return storetest.Tolerant(s, func() error { _, err := s.Store.Cancel(s.Ctx, job.ID); return err })
		}},
		{"failed to scheduled", core.Failed, core.Scheduled, func(s *storetest.Stage, job core.Job) error {
			return storetest.Tolerant(s, func() error { _, err := s.Store.Retry(s.Ctx, job.ID); return err })
		}},
	}
}

// each turns an act on one job into a call.
func each(act func(s *storetest.Stage, m move, job core.Job) error) func(*storetest.Stage, move, []core.Job) error {
	return func(s *storetest.Stage, m move, jobs []core.Job) error {
		for _, job := range jobs {
			if err := act(s, m, job); err != nil {
				return err
			}
		}
		return nil
	}
}

func calls() []call {
	reading := []call{{name: "Get", act: each(callGet)}, {name: "List", act: callList}, {name: "Ended", act: callEnded}, {name: "Stats", act: callStats}}
	stale := []call{{name: "Start", act: callStart}, {name: "Heartbeat", act: callHeartbeat}, {name: "Finish with an old token", act: callFinish},
		{name: "Undispatch and Unhandled with an old token", act: callRefs}}
	changing := []call{
		{"Cancel", each(func(s *storetest.Stage, _ move, job core.Job) error {
			return storetest.Tolerant(s, func() error { _, err := s.Store.Cancel(s.Ctx, job.ID); return err })
		}), []core.Status{core.Cancelled}, false},
		{"Reschedule", each(func(s *storetest.Stage, _ move, job core.Job) error {
			return storetest.Tolerant(s, func() error {
				_, err := s.Store.Reschedule(s.Ctx, job.ID, core.When{Delay: time.Hour})
				return err
			})
		}), []core.Status{core.Scheduled}, false},
		{"Retry", each(func(s *storetest.Stage, _ move, job core.Job) error {
			return storetest.Tolerant(s, func() error { _, err := s.Store.Retry(s.Ctx, job.ID); return err })
		}), []core.Status{core.Scheduled}, false},
		{"Redrive", callRedrive, []core.Status{core.Scheduled}, false},
		{"Submit of the same dedupe key", each(callSubmit), nil, true},
		{"Tick", callTick, nil, false},
	}
	return slices.Concat(reading, stale, changing)
}

func moveScenarios() []storetest.Scenario {
	var all []storetest.Scenario
	for _, m := range moves() {
		all = append(all, storetest.Scenario{Name: "Move/" + m.name, Run: func(s *storetest.Stage) {
			for _, c := range calls() {
				s.Sub(c.name, func(s *storetest.Stage) { m.under(s, c) })
			}
		}})
	}
	return all
}

// under moves jobs while the call runs on them, and then counts them.
func (m move) under(s *storetest.Stage, c call) {
	fresh := make([]core.NewJob, moveJobs)
	typ := s.NewType()
	for i := range fresh {
		fresh[i] = core.NewJob{Type: typ, DedupeKey: fmt.Sprint(typ, "-", i)}
	}
	jobs := s.PutAll(m.from, fresh)
	moved := make(chan struct{})
	s.Together(func() error {
		defer close(moved)
		for _, job := range jobs {
			if err := m.act(s, job); err != nil {
				return fmt.Errorf("the move of job %d: %w", job.ID, err)
			}
		}
		return nil
	}, func() error {
		for {
			if err := c.act(s, m, jobs); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			select {
			case <-moved:
				return c.act(s, m, jobs)
			default:
			}
		}
	})
	rows := map[int64][]core.Status{}
	for _, job := range s.List(core.ListQuery{Type: typ, Limit: 1000}) {
		rows[job.ID] = append(rows[job.ID], job.Status)
	}
	allowed := append([]core.Status{m.to}, c.changes...)
	if c.forestalls {
		allowed = append(allowed, m.from)
	}
	for _, job := range jobs {
		if at := rows[job.ID]; len(at) != 1 || !slices.Contains(allowed, at[0]) {
			s.Errorf("job %d is in %v, want it once, in one of %v", job.ID, at, allowed)
		}
	}
}

func (m move) at(status core.Status) bool { return status == m.from || status == m.to }

func callGet(s *storetest.Stage, m move, job core.Job) error {
	got, err := s.Store.Get(s.Ctx, job.ID)
	if err != nil {
		return err
	}
	if !m.at(got.Status) || got.DedupeKey != job.DedupeKey {
		return fmt.Errorf("job %d is %s", job.ID, got.Status)
	}
	return nil
}

func callList(s *storetest.Stage, m move, jobs []core.Job) error {
	got, err := s.Store.List(s.Ctx, core.ListQuery{Type: jobs[0].Type, Limit: 1000})
	if err != nil {
		return err
	}
	want := storetest.IdsOf(jobs)
	slices.Reverse(want)
	if !slices.Equal(storetest.IdsOf(got.Jobs), want) {
		return fmt.Errorf("%d of %d jobs are listed", len(got.Jobs), len(want))
	}
	for _, job := range got.Jobs {
		if !m.at(job.Status) {
			return fmt.Errorf("job %d is %s", job.ID, job.Status)
		}
	}
	return nil
}

func callEnded(s *storetest.Stage, m move, jobs []core.Job) error {
	got, err := s.Store.Ended(s.Ctx, storetest.IdsOf(jobs))
	if err != nil {
		return err
	}
	for id, status := range got {
		if !status.Ended() || !m.at(status) {
			return fmt.Errorf("job %d has ended as %s", id, status)
		}
	}
	return nil
}

func callStats(s *storetest.Stage, _ move, _ []core.Job) error {
	_, err := s.Store.Stats(s.Ctx, time.Hour)
	return err
}

// old returns references with tokens that no message or holder has.
func old(jobs []core.Job) []core.Ref {
	refs := storetest.RefsOf(jobs)
	for i := range refs {
		refs[i].Token += 1000
	}
	return refs
}

func callStart(s *storetest.Stage, _ move, jobs []core.Job) error {
	res, err := s.Store.Start(s.Ctx, old(jobs), s.ClaimRequest())
	if err == nil && len(res.Jobs) != 0 {
		return fmt.Errorf("started %v", storetest.IdsOf(res.Jobs))
	}
	return err
}

func callHeartbeat(s *storetest.Stage, _ move, jobs []core.Job) error {
	beats, err := s.Store.Heartbeat(s.Ctx, old(jobs), storetest.Lease)
	for i, beat := range beats {
		if !beat.Stale && !beat.Busy {
			return fmt.Errorf("the beat of job %d was answered %+v", jobs[i].ID, beat)
		}
	}
	return err
}

func callFinish(s *storetest.Stage, _ move, jobs []core.Job) error {
	ends := make([]core.End, len(jobs))
	for i, ref := range old(jobs) {
		ends[i] = core.End{Ref: ref, Outcome: core.Outcome(1 + i%5)}
	}
	answers, err := s.Store.Finish(s.Ctx, ends)
	for i, answer := range answers {
		if answer != (core.EndAnswer{Stale: true}) && answer != (core.EndAnswer{Busy: true}) {
			return fmt.Errorf("the end of job %d was answered %+v", jobs[i].ID, answer)
		}
	}
	return err
}

func callRefs(s *storetest.Stage, _ move, jobs []core.Job) error {
	return errors.Join(s.Store.Undispatch(s.Ctx, old(jobs)), s.Store.Unhandled(s.Ctx, old(jobs)))
}

func callRedrive(s *storetest.Stage, _ move, jobs []core.Job) error {
	got, err := s.Store.Redrive(s.Ctx, core.DeadQuery{IDs: storetest.IdsOf(jobs)}, 5, core.Pace{})
	for _, one := range got {
		if one.Err != nil && !errors.Is(one.Err, core.ErrConflict) {
			return fmt.Errorf("job %d: %w", one.ID, one.Err)
		}
	}
	if errors.Is(err, core.ErrBusy) {
		return nil
	}
	return err
}

// callSubmit submits a job with the same key again. It removes a job that it creates at once, so that the key is free for a
// retry.
func callSubmit(s *storetest.Stage, _ move, job core.Job) error {
	out, err := s.Store.Submit(s.Ctx, []core.NewJob{{Type: "again", DedupeKey: job.DedupeKey}})
	if err != nil {
		return err
	}
	if e := out[0].Existing; e != nil && (e.DedupeKey != job.DedupeKey || !e.Status.Live()) {
		return fmt.Errorf("the key of job %d is held by job %d, %s", job.ID, e.ID, e.Status)
	}
	if out[0].Existing != nil {
		return nil
	}
	return storetest.Tolerant(s, func() error { _, err := s.Store.Cancel(s.Ctx, out[0].ID); return err })
}

func callTick(s *storetest.Stage, _ move, jobs []core.Job) error {
	_, err := s.Store.Tick(s.Ctx, storetest.TickRequest("holder-1", storetest.Quota("none", 10)))
	return err
}
