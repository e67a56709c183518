package webhook

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// newRequest builds the request of one attempt, signed at now. The same job has the same webhook-id at every
// attempt, and another timestamp, signature and lease token.
func (w *Webhook) newRequest(ctx context.Context, t *target, job *core.Job) (*http.Request, error) {
	body := []byte(job.Payload)
	if len(body) == 0 {
		body = []byte("{}")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json")
	h.Set("User-Agent", w.userAgent)
	for name, value := range t.headers {
		h.Set(name, value)
	}
	id, now := strconv.FormatInt(job.ID, 10), w.now()
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	h.Set("Webhook-Signature", w.signer.sign(id, now, body))
	h.Set("Belfry-Job-Id", id)
	h.Set("Belfry-Attempt", strconv.Itoa(job.Attempts))
	h.Set("Belfry-Max-Attempts", strconv.Itoa(job.MaxAttempts))
	h.Set("Belfry-Scheduled-For", job.RunAt.UTC().Format(time.RFC3339Nano))
	h.Set("Belfry-Lease-Token", w.leases.Mint(core.Ref{ID: job.ID, Token: job.LeaseToken}))
	if job.Trace != "" {
		h.Set("Traceparent", job.Trace)
	}
	// A key without a value is not sent. It tells the transport that a POST may be sent again when a reused
	// connection turns out to have been closed: the receiver knows a repeated delivery by its webhook-id.
	if h.Get("Idempotency-Key") == "" {
		h["Idempotency-Key"] = nil
	}
	return req, nil
}
