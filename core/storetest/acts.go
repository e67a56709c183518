package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// quota asks for up to n due jobs of one type.
func quota(typ string, n int) core.Quota {
	return core.Quota{Priority: core.Default, Type: typ, Limit: n}
}

// claimRequest is a claim under a fresh claim id.
func (s *stage) claimRequest(quotas ...core.Quota) core.ClaimRequest {
	return core.ClaimRequest{WorkerID: "worker-1", ClaimID: s.number(), Lease: lease, Quotas: quotas}
}

// claim makes up to n due jobs of one type running.
func (s *stage) claim(typ string, n int) []core.Job {
	s.Helper()
	return s.claimDue(quota(typ, n)).Jobs
}

// claimDue claims by quotas; each must be answered.
func (s *stage) claimDue(quotas ...core.Quota) core.ClaimResult {
	s.Helper()
	res, err := s.store.ClaimDue(s.ctx, s.claimRequest(quotas...))
	s.must(err)
	if len(res.Taken) != len(quotas) {
		s.Fatalf("ClaimDue answered %d of %d quotas", len(res.Taken), len(quotas))
	}
	return res
}

// claimOne submits one job and claims it.
func (s *stage) claimOne(job core.NewJob) core.Job {
	s.Helper()
	id := s.submitOne(job)
	jobs := s.claim(job.Type, 1)
	if len(jobs) != 1 || jobs[0].ID != id {
		s.Fatalf("want job %d claimed, got %v", id, idsOf(jobs))
	}
	return jobs[0]
}

// tickRequest is a tick of queue mode, with limits no scenario reaches.
func tickRequest(holder string, quotas ...core.Quota) core.TickRequest {
	return core.TickRequest{Holder: holder, LeaseLength: bucketLease, ReapLimit: 10_000, ExpireLimit: 10_000, RepublishLimit: 10_000,
		Dispatch: true, Unannounced: true, Quotas: quotas, DispatchLease: dispatchLease, DispatchLeaseMax: dispatchLeaseMax}
}

// tick runs one tick.
func (s *stage) tick(req core.TickRequest) core.TickResult {
	s.Helper()
	res, err := s.store.Tick(s.ctx, req)
	s.must(err)
	return res
}

// dispatch marks up to n due jobs of one type queued and returns those of the type that are to be published.
func (s *stage) dispatch(typ string, n int) []core.Job {
	s.Helper()
	var jobs []core.Job
	for _, job := range s.tick(tickRequest("holder-1", quota(typ, n))).Dispatched {
		if job.Type == typ {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// start starts queued jobs.
func (s *stage) start(refs ...core.Ref) core.StartResult {
	s.Helper()
	res, err := s.store.Start(s.ctx, refs, s.claimRequest())
	s.must(err)
	return res
}

// finish ends one attempt.
func (s *stage) finish(end core.End) core.EndAnswer {
	s.Helper()
	answers, err := s.store.Finish(s.ctx, []core.End{end})
	s.must(err)
	if len(answers) != 1 {
		s.Fatalf("Finish of 1 end answered %d", len(answers))
	}
	return answers[0]
}

// finishAs ends one attempt and wants this status.
func (s *stage) finishAs(want core.Status, end core.End) {
	s.Helper()
	if got := s.finish(end); got != (core.EndAnswer{Status: want}) {
		s.Fatalf("Finish of job %d: want %s, got %+v", end.ID, want, got)
	}
}

// beat sends one heartbeat.
func (s *stage) beat(ref core.Ref) core.Beat {
	s.Helper()
	beats, err := s.store.Heartbeat(s.ctx, []core.Ref{ref}, lease)
	s.must(err)
	if len(beats) != 1 {
		s.Fatalf("Heartbeat of 1 row answered %d", len(beats))
	}
	return beats[0]
}

// cancel cancels one job.
func (s *stage) cancel(id int64) core.Job {
	s.Helper()
	job, err := s.store.Cancel(s.ctx, id)
	s.must(err)
	return job
}

// put brings a new job to status by the shortest way, and returns it as it stands. Its type is its own.
func (s *stage) put(status core.Status, job core.NewJob) core.Job {
	s.Helper()
	if job.Type == "" {
		job.Type = s.newType()
	}
	switch status {
	case core.Scheduled:
		return s.get(s.submitOne(job))
	case core.Queued:
		id := s.submitOne(job)
		if jobs := s.dispatch(job.Type, 1); len(jobs) != 1 || jobs[0].ID != id {
			s.Fatalf("want job %d dispatched, got %v", id, idsOf(jobs))
		}
		return s.get(id)
	case core.Running:
		return s.get(s.claimOne(job).ID)
	case core.Done:
		running := s.claimOne(job)
		s.finishAs(core.Done, core.End{Ref: refOf(running), Outcome: core.EndDone})
		return s.get(running.ID)
	case core.Failed:
		running := s.claimOne(job)
		s.finishAs(core.Failed, core.End{Ref: refOf(running), Outcome: core.EndFail, Errors: oneError(running, "no")})
		return s.get(running.ID)
	case core.Cancelled:
		id := s.submitOne(job)
		s.cancel(id)
		return s.get(id)
	}
	s.Fatalf("no way to %s", status)
	return core.Job{}
}

// putAll brings many new jobs of one type, due now, to status in few calls, and returns them as they stand.
func (s *stage) putAll(status core.Status, jobs []core.NewJob) []core.Job {
	s.Helper()
	submitted, typ := s.submit(jobs...), jobs[0].Type
	switch status {
	case core.Queued:
		s.dispatch(typ, len(jobs))
	case core.Running, core.Done, core.Failed:
		var ends []core.End
		for _, job := range s.claim(typ, len(jobs)) {
			ends = append(ends, core.End{Ref: refOf(job), Outcome: map[core.Status]core.Outcome{core.Done: core.EndDone, core.Failed: core.EndFail}[status]})
		}
		if status != core.Running {
			s.finishAll(ends)
		}
	case core.Cancelled:
		for _, one := range submitted {
			s.cancel(one.ID)
		}
	}
	placed := s.list(core.ListQuery{Type: typ, Statuses: []core.Status{status}, Limit: 1000})
	if len(placed) != len(jobs) {
		s.Fatalf("%d of %d jobs are %s", len(placed), len(jobs), status)
	}
	slices.Reverse(placed)
	return placed
}

// eventually calls act until it reports true; the stage's patience bounds it.
func (s *stage) eventually(what string, act func() bool) {
	s.Helper()
	pause := time.NewTicker(2 * time.Millisecond)
	defer pause.Stop()
	for !act() {
		select {
		case <-pause.C:
		case <-s.ctx.Done():
			s.Fatalf("waited in vain: %s", what)
		}
	}
}

// notBusy calls act again while it answers ErrBusy.
func notBusy(ctx context.Context, act func() error) error {
	for {
		err := act()
		if !errors.Is(err, core.ErrBusy) {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("still busy: %w", err)
		}
	}
}

func refOf(job core.Job) core.Ref { return core.Ref{ID: job.ID, Token: job.LeaseToken} }

func refsOf(jobs []core.Job) []core.Ref {
	refs := make([]core.Ref, len(jobs))
	for i, job := range jobs {
		refs[i] = refOf(job)
	}
	return refs
}

func idsOf(jobs []core.Job) []int64 {
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	return ids
}

// oneError is the error history of a job whose present attempt is the first to fail.
func oneError(job core.Job, text string) []core.AttemptError {
	return append(job.Errors, core.AttemptError{Attempt: job.Attempts, At: job.StartedAt, Error: text, Kind: "error"})
}

// unchanged wants a job to be as it was, column for column.
func (s *stage) unchanged(want core.Job) {
	s.Helper()
	if got := s.get(want.ID); !reflect.DeepEqual(got, want) {
		s.Errorf("job %d changed:\n got %+v\nwant %+v", want.ID, got, want)
	}
}

// isConflict reports whether err says that a job of this status refused the change.
func isConflict(err error, status core.Status) bool {
	var conflict *core.ConflictError
	return errors.As(err, &conflict) && conflict.Other == 0 && conflict.Job.Status == status && errors.Is(err, core.ErrConflict)
}
