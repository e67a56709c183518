package sqlite

import (
	"context"

	"github.com/belfry-dev/belfry/core"
)

// Submit writes all jobs in one transaction, shared with other writes.
func (s *Store) Submit(ctx context.Context, jobs []core.NewJob) ([]core.Submitted, error) {
	var answers []core.Submitted
	err := s.writer.run(ctx, func(t *tx) (err error) {
		answers, err = t.submitAll(jobs)
		return err
	})
	if err != nil {
		return nil, wrap("submit", err)
	}
	return answers, nil
}

// submitAll writes jobs in their order.
func (t *tx) submitAll(jobs []core.NewJob) ([]core.Submitted, error) {
	answers := make([]core.Submitted, len(jobs))
	held := map[[2]string]core.Submitted{} // by tenant and key: a key that stands a thousand times is looked up once
	for i := range jobs {
		key := [2]string{jobs[i].Tenant, jobs[i].DedupeKey}
		if answer, known := held[key]; known {
			answers[i] = answer
			continue
		}
		answer, err := t.submit(&jobs[i])
		if err != nil {
			return nil, err
		}
		if h := answer.Existing; h != nil {
			if len(jobs) > 1 && len(h.Payload) > core.MaxBriefBytes {
				h.Payload = nil
			}
			held[key] = answer
		}
		answers[i] = answer
	}
	return answers, nil
}

func (t *tx) submit(job *core.NewJob) (core.Submitted, error) {
	if job.DedupeKey != "" {
		holder, err := t.dedupe(job.Tenant, job.DedupeKey)
		if err != nil {
			return core.Submitted{}, err
		}
		if holder != nil {
			return core.Submitted{ID: holder.ID, RunAt: holder.RunAt, CreatedAt: holder.CreatedAt,
				Status: holder.Status, Token: holder.LeaseToken, Existing: holder}, nil
		}
	}
	answer := t.plan(job)
	return answer, t.write(job, answer)
}

// plan takes an id for a new job, and says what the job comes to.
func (t *tx) plan(job *core.NewJob) core.Submitted {
	runAt := t.now + job.Delay.Microseconds()
	if !job.RunAt.IsZero() {
		runAt = micros(job.RunAt)
	}
	status := core.Scheduled
	if job.Queued && runAt <= t.now {
		status = core.Queued
	}
	id := t.w.nextID
	t.w.nextID++
	return core.Submitted{ID: id, RunAt: instant(runAt), CreatedAt: instant(t.now), Status: status}
}

// write writes a new job as planned.
func (t *tx) write(job *core.NewJob, s core.Submitted) error {
	lease, fence, dispatches := any(nil), int64(0), 0
	if s.Status == core.Queued {
		lease, fence, dispatches = t.now+job.QueuedLease.Microseconds(), job.Fence, 1
	}
	payload, maxAttempts, priority := string(job.Payload), job.MaxAttempts, job.Priority
	if payload == "" {
		payload = "{}"
	}
	if maxAttempts == 0 {
		maxAttempts = core.DefaultMaxAttempts
	}
	if priority == 0 {
		priority = core.Default
	}
	_, err := t.exec("submit", s.ID, job.Type, payload, int64(priority), job.Tenant, micros(s.RunAt), int64(s.Status),
		maxAttempts, lease, fence, dispatches, job.DedupeKey, job.Timeout.Microseconds(), timeOrNull(job.Expiry(s.RunAt)),
		encodeBackoff(job.Backoff), textOrNull(job.Target), encode(job.Tags), job.Trace, t.now)
	return err
}

// dedupe returns the live job that holds a dedupe key, or nil.
func (t *tx) dedupe(tenant, key string) (*core.Job, error) {
	var holder *core.Job
	err := t.query("dedupe", func(r row) error {
		job := r.job()
		holder = &job
		return nil
	}, tenant, key)
	return holder, err
}
