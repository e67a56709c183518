package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// DeadFilter selects dead letters. Redrive and Discard want at least one field; All where none says which are
// meant. What a call cannot filter by is refused by name, never left out.
type DeadFilter struct {
	Type         string
	Tenant       *string   // a pointer to "" means those without a tenant
	IDs          []string  // Redrive and Discard, 1 to 1,000; empty and not nil is refused, for it would mean all
	FailedBefore time.Time // Discard
	All          bool
}

// DeadLetters goes through the dead letters that match, newest first, as List does.
func (c *Client) DeadLetters(ctx context.Context, f DeadFilter) iter.Seq2[*Job, error] {
	q := f.query()
	q.Del("all") // a list without a filter is all of them
	q.Set("limit", "1000")
	return c.pages(ctx, "/v1/dead-letters", q)
}

// Redriven says what became of dead letters.
type Redriven struct {
	Redriven  int        `json:"redriven"` // jobs again
	Conflicts []Conflict `json:"conflicts"`
}

// Conflict is a dead letter that was left, and why.
type Conflict struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	JobID  string `json:"job_id,omitempty"` // the live job that holds the dedupe key
}

// Redrive retries up to limit dead letters that match, oldest first; zero means the server's default, 10,000 is the
// most. It is not tried again after a lost answer.
func (c *Client) Redrive(ctx context.Context, f DeadFilter, limit int) (Redriven, error) {
	fields := map[string]any{}
	for name, values := range f.query() {
		fields[name] = values[0]
	}
	if delete(fields, "id"); f.IDs != nil {
		fields["ids"] = f.IDs
	}
	if f.All {
		fields["all"] = true
	}
	if limit != 0 {
		fields["limit"] = limit
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return Redriven{}, err
	}
	call := call{method: http.MethodPost, path: "/v1/dead-letters/redrive", body: body}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return Redriven{}, err
	}
	var r struct {
		Redriven
		Conflicts *[]Conflict `json:"conflicts"`
	}
	if json.Unmarshal(answer, &r) != nil || r.Conflicts == nil {
		return Redriven{}, foreign(call.name())
	}
	return Redriven{r.Redriven.Redriven, *r.Conflicts}, nil
}

// Discard deletes up to limit dead letters that match and says how many; zero means the server's default, 10,000 is
// the most. They are gone for good. It is not tried again after a lost answer.
func (c *Client) Discard(ctx context.Context, f DeadFilter, limit int) (int, error) {
	if f.IDs != nil && len(f.IDs) == 0 {
		return 0, FieldErrors{{Field: "id", Rule: "must stand 1 to 1000 times"}}
	}
	q := f.query()
	if limit != 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	call := call{method: http.MethodDelete, path: "/v1/dead-letters", query: q}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return 0, err
	}
	var d struct {
		Discarded *int `json:"discarded"`
	}
	if json.Unmarshal(answer, &d) != nil || d.Discarded == nil {
		return 0, foreign(call.name())
	}
	return *d.Discarded, nil
}

func (f *DeadFilter) query() url.Values {
	q := url.Values{}
	set(q, "type", f.Type)
	setTenant(q, f.Tenant)
	set(q, "failed_before", instant(f.FailedBefore))
	for _, id := range f.IDs {
		q.Add("id", id)
	}
	if f.All {
		q.Set("all", "true")
	}
	return q
}
