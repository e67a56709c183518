package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Redriven says what became of dead letters.
type Redriven struct {
	Redriven  int        `json:"redriven"` // jobs again
	Conflicts []Conflict `json:"conflicts"`
	Remaining int        `json:"remaining"`            // how many match beyond After
	Capped    bool       `json:"capped"`               // Remaining stopped at 100,000
	After     string     `json:"after,omitempty"`      // the highest id that was gone through
	NextRunAt time.Time  `json:"next_run_at,omitzero"` // with a rate: when the next one would be due
}

// Conflict is a dead letter that was left, and why.
type Conflict struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	JobID  string `json:"job_id,omitempty"` // the live job that holds the dedupe key
}

// RedriveOptions say how dead letters come back.
type RedriveOptions struct {
	Limit int       // at most this many. Zero means all that match
	Rate  float64   // jobs per second: each is due that much after the one before. Zero means all at once
	From  time.Time // when the first is due. Zero means now
	After string    // only ids above this. Zero means all

	// Progress is told after each request what has become of all so far. Zero means nobody is told.
	Progress func(Redriven)
}

// redriveStep is how many dead letters one request takes.
const redriveStep = 1000

// Redrive retries up to limit dead letters that match, in one request, the lowest id first; zero means the server's
// default, 10,000 is the most. It is not tried again after a lost answer.
func (c *Client) Redrive(ctx context.Context, f DeadFilter, limit int) (Redriven, error) {
	return c.redrive(ctx, f, RedriveOptions{Limit: limit}, false)
}

// RedriveAll retries dead letters that match, the lowest id first, request by request until none remains or the limit
// is reached. With an error it returns what has become of those before: with After and From as Redriven has them in
// After and NextRunAt, a further call goes on at the same rate. Each dead letter is met once: one that fails again
// meanwhile is left.
func (c *Client) RedriveAll(ctx context.Context, f DeadFilter, o RedriveOptions) (Redriven, error) {
	sum, limit := Redriven{Conflicts: []Conflict{}, After: o.After, NextRunAt: o.From}, o.Limit
	for {
		through := sum.Redriven + len(sum.Conflicts)
		if o.Limit = redriveStep; limit > 0 {
			o.Limit = min(redriveStep, limit-through)
		}
		if o.Limit <= 0 {
			return sum, nil
		}
		r, err := c.redrive(ctx, f, o, false)
		if err != nil {
			return sum, err
		}
		sum.Redriven += r.Redriven
		sum.Conflicts = append(sum.Conflicts, r.Conflicts...)
		sum.Remaining, sum.Capped = r.Remaining, r.Capped
		if r.After != "" {
			sum.After, sum.NextRunAt = r.After, r.NextRunAt
		}
		if o.Progress != nil {
			o.Progress(sum)
		}
		if r.Remaining == 0 || r.Redriven+len(r.Conflicts) == 0 { // the rest is in someone else's hands
			return sum, nil
		}
		o.After, o.From = sum.After, sum.NextRunAt
	}
}

// CountDead counts the dead letters that match and whose ids are above after; "" means all. It stops at 100,000, and
// says so by capped.
func (c *Client) CountDead(ctx context.Context, f DeadFilter, after string) (n int, capped bool, err error) {
	r, err := c.redrive(ctx, f, RedriveOptions{After: after}, true)
	return r.Remaining, r.Capped, err
}

func (c *Client) redrive(ctx context.Context, f DeadFilter, o RedriveOptions, dry bool) (Redriven, error) {
	fields := map[string]any{}
	for name, values := range f.query() {
		fields[name] = values[0]
	}
	if delete(fields, "id"); f.IDs != nil {
		fields["ids"] = f.IDs
	}
	for name, given := range map[string]bool{"all": f.All, "dry_run": dry} {
		if given {
			fields[name] = true
		}
	}
	if o.Limit != 0 {
		fields["limit"] = o.Limit
	}
	if o.Rate != 0 {
		fields["rate"] = o.Rate
	}
	if !o.From.IsZero() {
		fields["from"] = instant(o.From)
	}
	if o.After != "" {
		fields["after"] = o.After
	}
	body, err := encode(fields)
	if err != nil {
		return Redriven{}, err
	}
	call := call{method: http.MethodPost, path: "/v1/dead-letters/redrive", body: body, repeatable: dry, reads: dry}
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
	r.Redriven.Conflicts = *r.Conflicts
	return r.Redriven, nil
}
