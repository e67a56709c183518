package sqlite

import (
	"context"

	"github.com/belfry-dev/belfry/core"
)

// Submit writes all jobs in one transaction, shared with whatever else is being written.
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
	runAt := t.now + job.Delay.Microseconds()
	if !job.RunAt.IsZero() {
		runAt = micros(job.RunAt)
	}
	status, lease, fence, dispatches := core.Scheduled, any(nil), int64(0), 0
	if job.Queued && runAt <= t.now {
		status, lease, fence, dispatches = core.Queued, t.now+job.QueuedLease.Microseconds(), job.Fence, 1
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
	id := t.w.nextID
	t.w.nextID++
	_, err := t.exec("submit", id, job.Type, payload, int64(priority), job.Tenant, runAt, int64(status),
		maxAttempts, lease, fence, dispatches, job.DedupeKey, job.Timeout.Microseconds(), timeOrNull(job.Expiry(instant(runAt))),
		encodeBackoff(job.Backoff), textOrNull(job.Target), encode(job.Tags), job.Trace, t.now)
	return core.Submitted{ID: id, RunAt: instant(runAt), CreatedAt: instant(t.now), Status: status}, err
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
