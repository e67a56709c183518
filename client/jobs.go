package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// Get looks at a job.
func (c *Client) Get(ctx context.Context, id string) (*Job, error) {
	return c.get(ctx, id, 0)
}

// maxPoll is how long one request of Wait stays open, if the HTTP client lets it.
const maxPoll = 30 * time.Second

// pollOf is how long one request of Wait may stay open with an HTTP client: three quarters of the time that the client waits for an answer.
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

// Wait returns the job once it has ended. When ctx ends first it returns the job as last seen, which may be nil, and
// the error. Its requests stay open for up to 30 s, less where the timeout of Options.HTTPClient is shorter.
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

// Cancel cancels a job. One that waits is cancelled and never starts; one that runs comes back with CancelWanted,
// and its worker is told to stop. An ended one is ErrConflict.
func (c *Client) Cancel(ctx context.Context, id string) (*Job, error) {
	return c.change(ctx, id, "cancel", nil)
}

// Retry puts a dead letter back: scheduled now, its attempts counted from 0. ErrConflict where it has not failed, or
// where another live job holds its dedupe key; Problem.JobID is that one.
func (c *Client) Retry(ctx context.Context, id string) (*Job, error) {
	return c.change(ctx, id, "retry", nil)
}

// Reschedule gives a waiting job another time. One that runs or has ended is ErrConflict.
func (c *Client) Reschedule(ctx context.Context, id string, runAt time.Time) (*Job, error) {
	return c.change(ctx, id, "reschedule", map[string]string{"run_at": instant(runAt)})
}

// RescheduleIn gives a waiting job a time that far ahead, by the store's clock. Zero means now.
func (c *Client) RescheduleIn(ctx context.Context, id string, delay time.Duration) (*Job, error) {
	return c.change(ctx, id, "reschedule", map[string]string{"delay": delay.String()})
}

// change is not tried again after a lost answer: repeated, it would meet the state that it made itself.
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

// jobPath is a job's path. An id that is none is refused by the server.
func jobPath(id string) string { return "/v1/jobs/" + segment(id) }

// remove deletes what a path names. It is not tried again after a lost answer.
func (c *Client) remove(ctx context.Context, path string) error {
	call := call{method: http.MethodDelete, path: path}
	status, _, err := c.do(ctx, call)
	if err == nil && status != http.StatusNoContent {
		return foreign(call.name())
	}
	return err
}

// segment is a name as one part of a path. What would lead to another path becomes a name that nothing has.
func segment(name string) string {
	if name == "" || name == "." || name == ".." {
		name = "-" + name
	}
	return url.PathEscape(name)
}
