package client

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Priority is one of three classes of urgency.
type Priority string

// The three priorities, most urgent first.
const (
	Critical Priority = "critical"
	Default  Priority = "default"
	Bulk     Priority = "bulk"
)

// NewJob is a job to submit. Zero fields take the server's defaults. The server checks every rule and returns FieldErrors
// for what it refuses.
type NewJob struct {
	Type     string // names the handler; required
	Payload  any    // any JSON: a json.RawMessage is sent byte for byte, everything else as json.Marshal writes it. Nil means {}
	Priority Priority
	Tenant   string

	RunAt time.Time     // when it may start. Zero means now, or after Delay
	Delay time.Duration // by the store's clock; not with RunAt

	DedupeKey   string // while a live job of this tenant has this key, submitting again returns that job
	MaxAttempts int
	Timeout     time.Duration   // of one attempt
	ExpiresAt   time.Time       // not started after this. Zero means never
	Backoff     []time.Duration // waits between attempts, the last one repeating
	Target      *Target         // delivers it to a URL instead of the type's handler
	Tags        []string

	// IdempotencyKey makes a repeated Submit get the first one's answer. Zero means a random key, so that the tries of one
	// call are one submit. A batch ignores it.
	IdempotencyKey string
}

// Target is the URL to which a job without a handler is delivered.
type Target struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
}

// newJobDoc is the API's form of a new job, without the payload.
type newJobDoc struct {
	Type        string   `json:"type"`
	Priority    Priority `json:"priority,omitempty"`
	Tenant      string   `json:"tenant,omitempty"`
	RunAt       string   `json:"run_at,omitempty"`
	Delay       string   `json:"delay,omitempty"`
	DedupeKey   string   `json:"dedupe_key,omitempty"`
	MaxAttempts int      `json:"max_attempts,omitempty"`
	Timeout     string   `json:"timeout,omitempty"`
	ExpiresAt   string   `json:"expires_at,omitempty"`
	Backoff     []string `json:"backoff,omitempty"`
	Target      *Target  `json:"target,omitempty"`
	Tags        []string `json:"tags,omitempty"`
}

// Document returns the job as the API reads it. It inserts the payload byte for byte: encoding/json would rewrite it.
func (j *NewJob) Document() ([]byte, error) {
	doc := newJobDoc{
		Type: j.Type, Priority: j.Priority, Tenant: j.Tenant, RunAt: instant(j.RunAt), Delay: duration(j.Delay), DedupeKey: j.DedupeKey,
		MaxAttempts: j.MaxAttempts, Timeout: duration(j.Timeout), ExpiresAt: instant(j.ExpiresAt), Target: j.Target, Tags: j.Tags, Backoff: durations(j.Backoff),
	}
	return withPayload(doc, j.Payload)
}

// withPayload adds a payload to a document, unless it is nil.
func withPayload(document, payload any) ([]byte, error) {
	b, err := encode(document)
	if err != nil || payload == nil {
		return b, err
	}
	value, err := core.MarshalValue("payload", payload)
	if err != nil {
		return nil, err
	}
	return withMember(b, "payload", value), nil
}

// instant writes a time as the API reads it; "" for none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// duration writes a duration as the API reads it; "" for none.
func duration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func durations(waits []time.Duration) []string {
	var texts []string
	for _, wait := range waits {
		texts = append(texts, wait.String())
	}
	return texts
}
