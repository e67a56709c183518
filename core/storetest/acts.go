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

// Quota returns a quota of up to n due jobs of one type.
func Quota(typ string, n int) core.Quota {
	return core.Quota{Priority: core.Default, Type: typ, Limit: n}
}

// ClaimRequest returns a claim with a fresh claim id.
func (s *Stage) ClaimRequest(quotas ...core.Quota) core.ClaimRequest {
	return core.ClaimRequest{WorkerID: "worker-1", ClaimID: s.Number(), Lease: Lease, Quotas: quotas}
}

// Claim claims up to n due jobs of one type.
func (s *Stage) Claim(typ string, n int) []core.Job {
	s.Helper()
	return s.ClaimDue(Quota(typ, n)).Jobs
}

// ClaimDue claims with quotas, and checks that each is answered.
func (s *Stage) ClaimDue(quotas ...core.Quota) core.ClaimResult {
	s.Helper()
	res, err := s.Store.ClaimDue(s.Ctx, s.ClaimRequest(quotas...))
	s.Must(err)
	if len(res.Taken) != len(quotas) {
		s.Fatalf("ClaimDue answered %d of %d quotas", len(res.Taken), len(quotas))
	}
	return res
}

// ClaimOne submits one job and claims it.
func (s *Stage) ClaimOne(job core.NewJob) core.Job {
	s.Helper()
	id := s.SubmitOne(job)
	jobs := s.Claim(job.Type, 1)
	if len(jobs) != 1 || jobs[0].ID != id {
		s.Fatalf("want job %d claimed, got %v", id, IdsOf(jobs))
	}
	return jobs[0]
}

// TickRequest returns a tick of queue mode with limits that no scenario reaches.
func TickRequest(holder string, quotas ...core.Quota) core.TickRequest {
	return core.TickRequest{Holder: holder, LeaseLength: BucketLease, ReapLimit: 10_000, ExpireLimit: 10_000, RepublishLimit: 10_000,
		Dispatch: true, Unannounced: true, Quotas: quotas, DispatchLease: DispatchLease, DispatchLeaseMax: DispatchLeaseMax}
}

// Tick runs one tick.
func (s *Stage) Tick(req core.TickRequest) core.TickResult {
	s.Helper()
	res, err := s.Store.Tick(s.Ctx, req)
	s.Must(err)
	return res
}

// Dispatch marks up to n due jobs of one type as queued, and returns the type's jobs to publish.
func (s *Stage) Dispatch(typ string, n int) []core.Job {
	s.Helper()
	var jobs []core.Job
	for _, job := range s.Tick(TickRequest("holder-1", Quota(typ, n))).Dispatched {
		if job.Type == typ {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// Start starts queued jobs.
func (s *Stage) Start(refs ...core.Ref) core.StartResult {
	s.Helper()
	res, err := s.Store.Start(s.Ctx, refs, s.ClaimRequest())
	s.Must(err)
	return res
}

// Finish ends one attempt.
func (s *Stage) Finish(end core.End) core.EndAnswer {
	s.Helper()
	answers, err := s.Store.Finish(s.Ctx, []core.End{end})
	s.Must(err)
	if len(answers) != 1 {
		s.Fatalf("Finish of 1 end answered %d", len(answers))
	}
	return answers[0]
}

// FinishAs ends one attempt and checks the job's status.
func (s *Stage) FinishAs(want core.Status, end core.End) {
	s.Helper()
	if got := s.Finish(end); got != (core.EndAnswer{Status: want}) {
		s.Fatalf("Finish of job %d: want %s, got %+v", end.ID, want, got)
	}
}

// Beat sends one heartbeat.
func (s *Stage) Beat(ref core.Ref) core.Beat {
	s.Helper()
	beats, err := s.Store.Heartbeat(s.Ctx, []core.Ref{ref}, Lease)
	s.Must(err)
	if len(beats) != 1 {
		s.Fatalf("Heartbeat of 1 row answered %d", len(beats))
	}
	return beats[0]
}

// Cancel cancels one job.
func (s *Stage) Cancel(id int64) core.Job {
	s.Helper()
	job, err := s.Store.Cancel(s.Ctx, id)
	s.Must(err)
	return job
}

// Put moves a new job to status by the shortest way, and returns its current row. It has a type of its own.
func (s *Stage) Put(status core.Status, job core.NewJob) core.Job {
	s.Helper()
	if job.Type == "" {
		job.Type = s.NewType()
	}
	switch status {
	case core.Scheduled:
		return s.Get(s.SubmitOne(job))
	case core.Queued:
		id := s.SubmitOne(job)
		if jobs := s.Dispatch(job.Type, 1); len(jobs) != 1 || jobs[0].ID != id {
			s.Fatalf("want job %d dispatched, got %v", id, IdsOf(jobs))
		}
		return s.Get(id)
	case core.Running:
		return s.Get(s.ClaimOne(job).ID)
	case core.Done:
		running := s.ClaimOne(job)
		s.FinishAs(core.Done, core.End{Ref: RefOf(running), Outcome: core.EndDone})
		return s.Get(running.ID)
	case core.Failed:
		running := s.ClaimOne(job)
		s.FinishAs(core.Failed, core.End{Ref: RefOf(running), Outcome: core.EndFail, Errors: OneError(running, "no")})
		return s.Get(running.ID)
	case core.Cancelled:
		id := s.SubmitOne(job)
		s.Cancel(id)
		return s.Get(id)
	}
	s.Fatalf("no way to %s", status)
	return core.Job{}
}

// PutAll moves many new jobs of one type, due now, to status in few calls, and returns their current rows.
func (s *Stage) PutAll(status core.Status, jobs []core.NewJob) []core.Job {
	s.Helper()
	submitted, typ := s.Submit(jobs...), jobs[0].Type
	switch status {
	case core.Queued:
		s.Dispatch(typ, len(jobs))
	case core.Running, core.Done, core.Failed:
		var ends []core.End
		for _, job := range s.Claim(typ, len(jobs)) {
			ends = append(ends, core.End{Ref: RefOf(job), Outcome: map[core.Status]core.Outcome{core.Done: core.EndDone, core.Failed: core.EndFail}[status]})
		}
		if status != core.Running {
			s.FinishAll(ends)
		}
	case core.Cancelled:
		for _, one := range submitted {
			s.Cancel(one.ID)
		}
	}
	placed := s.List(core.ListQuery{Type: typ, Statuses: []core.Status{status}, Limit: 1000})
	if len(placed) != len(jobs) {
		s.Fatalf("%d of %d jobs are %s", len(placed), len(jobs), status)
	}
	slices.Reverse(placed)
	return placed
}

// Eventually calls act until it returns true, at most for Patience.
func (s *Stage) Eventually(what string, act func() bool) {
	s.Helper()
	pause := time.NewTicker(2 * time.Millisecond)
	defer pause.Stop()
	for !act() {
		select {
		case <-pause.C:
		case <-s.Ctx.Done():
			s.Fatalf("waited in vain: %s", what)
		}
	}
}

// NotBusy repeats act while it returns ErrBusy.
func NotBusy(ctx context.Context, act func() error) error {
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

func RefOf(job core.Job) core.Ref { return core.Ref{ID: job.ID, Token: job.LeaseToken} }

func RefsOf(jobs []core.Job) []core.Ref {
	refs := make([]core.Ref, len(jobs))
	for i, job := range jobs {
		refs[i] = RefOf(job)
	}
	return refs
}

func IdsOf(jobs []core.Job) []int64 {
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	return ids
}

// OneError returns the error history of a job whose current attempt is the first to fail.
func OneError(job core.Job, text string) []core.AttemptError {
	return append(job.Errors, core.AttemptError{Attempt: job.Attempts, At: job.StartedAt, Error: text, Kind: "error"})
}

// Unchanged checks that no column of a job has changed.
func (s *Stage) Unchanged(want core.Job) {
	s.Helper()
	if got := s.Get(want.ID); !reflect.DeepEqual(got, want) {
		s.Errorf("job %d changed:\n got %+v\nwant %+v", want.ID, got, want)
	}
}

// IsConflict reports whether err says that a job's status did not allow the change.
func IsConflict(err error, status core.Status) bool {
	var conflict *core.ConflictError
	return errors.As(err, &conflict) && conflict.Other == 0 && conflict.Job.Status == status && errors.Is(err, core.ErrConflict)
}

// FinishAll sends all ends, and repeats those of busy rows until each is answered.
func (s *Stage) FinishAll(ends []core.End) []core.EndAnswer {
	s.Helper()
	all := make([]core.EndAnswer, len(ends))
	open := make([]int, len(ends))
	for i := range open {
		open[i] = i
	}
	for len(open) > 0 {
		part := make([]core.End, len(open))
		for i, at := range open {
			part[i] = ends[at]
		}
		answers, err := s.Store.Finish(s.Ctx, part)
		s.Must(err)
		var busy []int
		for i, answer := range answers {
			if all[open[i]] = answer; answer.Busy {
				busy = append(busy, open[i])
			}
		}
		open = busy
	}
	return all
}

// Tolerant makes a change that another call may have prevented. It accepts a conflict, but not ErrNotFound.
func Tolerant(s *Stage, act func() error) error {
	if err := NotBusy(s.Ctx, act); err != nil && !errors.Is(err, core.ErrConflict) {
		return err
	}
	return nil
}
