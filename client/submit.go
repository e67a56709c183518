package client

import (
	"context"
	"crypto/rand"
	"net/http"
)

// Submit submits one job and returns it once it is stored on disk. If a live job already has its dedupe key, Submit returns
// that job with Duplicate set.
//
// It is retried after a lost answer. Its Idempotency-Key, a random one by default, makes the repeat get the first answer.
// ErrUnknown means that no try was answered; call it again with the same document and IdempotencyKey to find out.
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
