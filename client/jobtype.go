package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// JobType is the definition of a type: the defaults for its jobs. Zero fields define nothing.
type JobType struct {
	Type         string
	Target       *Target       // delivers the type's jobs to a URL. When read, the values of its headers are asterisks
	Timeout      time.Duration // of one attempt
	MaxAttempts  int
	Backoff      []time.Duration
	ExpiresAfter time.Duration // jobs without ExpiresAt are cancelled if they have not started this long after RunAt
	ExpectWithin time.Duration // an alert is raised if no job of the type was done for this long
	CreatedAt    time.Time     // set by the server, like UpdatedAt
	UpdatedAt    time.Time

	document []byte
}

// Document is the definition as the server wrote it, byte for byte.
func (t *JobType) Document() json.RawMessage { return t.document }

// jobTypeDoc is a definition as the API writes it; the first six fields are those it reads.
type jobTypeDoc struct {
	Target       *Target   `json:"target,omitempty"`
	Timeout      string    `json:"timeout,omitempty"`
	MaxAttempts  int       `json:"max_attempts,omitempty"`
	Backoff      []string  `json:"backoff,omitempty"`
	ExpiresAfter string    `json:"expires_after,omitempty"`
	ExpectWithin string    `json:"expect_within,omitempty"`
	Type         string    `json:"type,omitempty"`
	CreatedAt    time.Time `json:"created_at,omitzero"`
	UpdatedAt    time.Time `json:"updated_at,omitzero"`
}

// UnmarshalJSON reads a definition as the server writes it.
func (t *JobType) UnmarshalJSON(document []byte) error {
	var d jobTypeDoc
	if err := json.Unmarshal(document, &d); err != nil {
		return err
	}
	timeout, err := readDuration(d.Timeout)
	if err != nil {
		return err
	}
	backoff, err := readDurations(d.Backoff)
	if err != nil {
		return err
	}
	expect, err := readDuration(d.ExpectWithin)
	if err != nil {
		return err
	}
	expires, err := readDuration(d.ExpiresAfter)
	if err != nil {
		return err
	}
	*t = JobType{
		Type: d.Type, Target: d.Target, Timeout: timeout, MaxAttempts: d.MaxAttempts, Backoff: backoff, ExpectWithin: expect, ExpiresAfter: expires,
		CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, document: append([]byte(nil), document...),
	}
	return nil
}

// PutType makes the definition of a type, or replaces it as a whole; made says which. It applies to jobs submitted from then
// on; its target applies to waiting jobs too. It is safe to repeat, so it is retried after a lost answer; made is then about
// the last try.
func (c *Client) PutType(ctx context.Context, t JobType) (kept *JobType, made bool, err error) {
	body, err := encode(jobTypeDoc{
		Target: t.Target, Timeout: duration(t.Timeout), MaxAttempts: t.MaxAttempts, Backoff: durations(t.Backoff), ExpectWithin: duration(t.ExpectWithin),
		ExpiresAfter: duration(t.ExpiresAfter),
	})
	if err != nil {
		return nil, false, err
	}
	call := call{method: http.MethodPut, path: typePath(t.Type), body: body, repeatable: true}
	status, answer, err := c.do(ctx, call)
	if err != nil {
		return nil, false, err
	}
	kept, err = readType(call.name(), answer)
	return kept, status == http.StatusCreated, err
}

// GetType returns the definition of a type. ErrNotFound means that there is none, even if there are jobs of the type.
func (c *Client) GetType(ctx context.Context, name string) (*JobType, error) {
	call := call{method: http.MethodGet, path: typePath(name), repeatable: true}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	return readType(call.name(), answer)
}

// ListTypes iterates over the definitions in the order of their names, and fetches pages as the loop needs them. An error
// ends it and comes with a nil definition.
func (c *Client) ListTypes(ctx context.Context) iter.Seq2[*JobType, error] {
	return listed[JobType](ctx, c, "/v1/types", url.Values{"limit": {"1000"}})
}

// DeleteType deletes the definition of a type. Its jobs stay; jobs that wait for its target go on waiting. It is not retried
// after a lost answer. ErrNotFound means that there is none.
func (c *Client) DeleteType(ctx context.Context, name string) error {
	return c.remove(ctx, typePath(name))
}

func typePath(name string) string { return "/v1/types/" + segment(name) }

func readType(call string, document []byte) (*JobType, error) {
	var t JobType
	if err := json.Unmarshal(document, &t); err != nil || t.Type == "" {
		return nil, foreign(call)
	}
	return &t, nil
}
