package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Get returns a job.
func (c *Client) Get(ctx context.Context, id string) (*Job, error) {
	return c.get(ctx, id, 0)
}

// maxPoll is how long one request of Wait stays open, if the HTTP client lets it.
const maxPoll = 30 * time.Second

// pollOf returns how long one request of Wait may stay open: three quarters of the time that the HTTP client waits for an
// answer.
func pollOf(c *http.Client) time.Duration {
	poll := maxPoll
	shorten := func(limit time.Duration) {
		if limit > 0 {
			poll = min(poll, limit/4*3)
		}
	}
	shorten(c.Timeout)
	if t, ok := c.Transport.(*http.Transport); ok {
		shorten(t.ResponseHeaderTimeout)
	}
	return max(poll, time.Millisecond)
}

// Wait returns the job once it has ended. If ctx ends first, it returns the job as last seen, which may be nil, and the
// error. Its requests stay open for up to 30 s, or less if the timeout of Options.HTTPClient is shorter.
func (c *Client) Wait(ctx context.Context, id string) (*Job, error) {
	job, err := c.get(ctx, id, 0)
	for err == nil && !job.Status.Ended() {
		var next *Job
		if next, err = c.get(ctx, id, pollOf(c.http)); err == nil {
			job = next
		}
	}
	return job, err
}

func (c *Client) get(ctx context.Context, id string, wait time.Duration) (*Job, error) {
	call := call{method: http.MethodGet, path: jobPath(id), wait: wait, repeatable: true}
	if wait > 0 {
		call.query = url.Values{"wait": {wait.String()}}
	}
	_, body, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	return readJob(call.name(), body)
}

// Cancel cancels a job. A waiting job is cancelled and never starts. A running job comes back with CancelWanted, and its
// worker stops it. ErrConflict: the job has ended.
func (c *Client) Cancel(ctx context.Context, id string) (*Job, error) {
	return c.change(ctx, id, "cancel", nil)
}

// Retry puts a dead letter back: scheduled now, its attempts counted from 0. ErrConflict: the job has not failed, or another
// live job has its dedupe key (Problem.JobID).
func (c *Client) Retry(ctx context.Context, id string) (*Job, error) {
	return c.change(ctx, id, "retry", nil)
}

// Reschedule gives a waiting job another time. ErrConflict: the job runs or has ended.
func (c *Client) Reschedule(ctx context.Context, id string, runAt time.Time) (*Job, error) {
	return c.change(ctx, id, "reschedule", map[string]string{"run_at": instant(runAt)})
}

// RescheduleIn makes a waiting job due after delay, by the store's clock. Zero means now.
func (c *Client) RescheduleIn(ctx context.Context, id string, delay time.Duration) (*Job, error) {
	return c.change(ctx, id, "reschedule", map[string]string{"delay": delay.String()})
}

// change is not retried after a lost answer: the repeat would find the state that the first try made.
func (c *Client) change(ctx context.Context, id, act string, fields map[string]string) (*Job, error) {
	call := call{method: http.MethodPost, path: jobPath(id) + "/" + act}
	if fields != nil {
		var err error
		if call.body, err = encode(fields); err != nil {
			return nil, err
		}
	}
	_, body, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	return readJob(call.name(), body)
}

// jobPath returns a job's path. The server refuses an invalid id.
func jobPath(id string) string { return "/v1/jobs/" + segment(id) }

// remove deletes what path names. It is not retried after a lost answer.
func (c *Client) remove(ctx context.Context, path string) error {
	call := call{method: http.MethodDelete, path: path}
	status, _, err := c.do(ctx, call)
	if err == nil && status != http.StatusNoContent {
		return foreign(call.name())
	}
	return err
}

// segment escapes a name as one part of a path. A name that would lead to another path becomes one that nothing has.
func segment(name string) string {
	if name == "" || name == "." || name == ".." {
		name = "-" + name
	}
	return url.PathEscape(name)
}
