package webhook

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// headerText percent-encodes a name for a header: everything but visible ASCII, and %.
func headerText(name string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c > '~' || c == '%' {
			out.Write([]byte{'%', hex[c>>4], hex[c&15]})
		} else {
			out.WriteByte(c)
		}
	}
	return out.String()
}

// setRun sets the headers about the job's time: the due instants of a schedule's job, or the run_at of any other.
func setRun(h http.Header, job *core.Job) {
	at := job.RunAt
	if run := job.Run; run != nil {
		at = run.ScheduledFor
		h.Set("Belfry-Schedule", headerText(run.Schedule))
		if run.CatchUp {
			h.Set("Belfry-Catch-Up", "true")
		}
		if run.Covers > 1 {
			h.Set("Belfry-Covers", strconv.FormatInt(run.Covers, 10))
			h.Set("Belfry-Covers-From", run.First().UTC().Format(time.RFC3339Nano))
		}
	}
	h.Set("Belfry-Scheduled-For", at.UTC().Format(time.RFC3339Nano))
}

// newRequest builds the request of one attempt, signed at now. All attempts of a job have the same webhook-id, but different
// timestamps, signatures and lease tokens.
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
	id, now := w.jobID(ctx, job.ID), w.now()
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	h.Set("Webhook-Signature", w.signer.sign(id, now, body, job.Tenant, job.Type))
	h.Set("Belfry-Job-Id", strconv.FormatInt(job.ID, 10))
	h.Set("Belfry-Type", headerText(job.Type))
	if job.Tenant != "" {
		h.Set("Belfry-Tenant", headerText(job.Tenant))
	}
	h.Set("Belfry-Attempt", strconv.Itoa(job.Attempts))
	h.Set("Belfry-Max-Attempts", strconv.Itoa(job.MaxAttempts))
	setRun(h, job)
	h.Set("Belfry-Lease-Token", w.leases.Mint(ctx, core.Ref{ID: job.ID, Token: job.LeaseToken}))
	if job.Trace != "" {
		h.Set("Traceparent", job.Trace)
	}
	// A key without a value is not sent. It only tells the transport that it may repeat a POST if a reused connection turns
	// out to be closed. The receiver recognizes a repeated delivery by its webhook-id.
	if h.Get("Idempotency-Key") == "" {
		h["Idempotency-Key"] = nil
	}
	return req, nil
}
