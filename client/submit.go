package client

import (
	"context"
	"crypto/rand"
	"net/http"
)

// Submit submits one job and returns it once it is on disk. Where its dedupe key is taken it returns the live job
// that has it, with Duplicate set.
//
// It is tried again after a lost answer, for it carries an Idempotency-Key. A server that does not know that header
// says so; the job is then sent without, and after a lost answer it is tried again only if it has a dedupe key,
// which protects it for as long as the first job lives: one that has ended meanwhile would be submitted anew.
// Without either the error is ErrUnknown.
func (c *Client) Submit(ctx context.Context, job NewJob) (*Job, error) {
	document, err := job.Document()
	if err != nil {
		return nil, err
	}
	key := job.IdempotencyKey
	if key == "" {
		key = rand.Text()
	}
	call := call{method: http.MethodPost, path: "/v1/jobs", body: document, key: key, repeatable: job.DedupeKey != ""}
	_, body, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	return readJob(call.name(), body)
}
