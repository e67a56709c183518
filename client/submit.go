package client

import (
	"context"
	"crypto/rand"
	"net/http"
)

// Submit submits one job and returns it once it is on disk. Where its dedupe key is taken it returns the live job
// that has it, with Duplicate set.
//
// It is tried again after a lost answer: its Idempotency-Key, by itself a random one, makes a repeat get the first
// answer. ErrUnknown means that no try was answered; a further call with the same document and IdempotencyKey finds
// out.
func (c *Client) Submit(ctx context.Context, job NewJob) (*Job, error) {
	document, err := job.Document()
	if err != nil {
		return nil, err
	}
	key := job.IdempotencyKey
	if key == "" {
		key = rand.Text()
	}
	call := call{method: http.MethodPost, path: "/v1/jobs", body: document, key: key}
	_, body, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	return readJob(call.name(), body)
}
