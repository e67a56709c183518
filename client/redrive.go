package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Redriven is the result of a redrive.
type Redriven struct {
	Redriven  int        `json:"redriven"` // dead letters that are jobs again
	Conflicts []Conflict `json:"conflicts"`
	Remaining int        `json:"remaining"`            // matching dead letters beyond After
	Capped    bool       `json:"capped"`               // Remaining stopped at 100,000
	After     string     `json:"after,omitempty"`      // the highest id that was handled
	NextRunAt time.Time  `json:"next_run_at,omitzero"` // with a rate: when the next one would be due
}

// Conflict is a dead letter that was not redriven, and why.
type Conflict struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	JobID  string `json:"job_id,omitempty"` // the live job that holds the dedupe key
}

// RedriveOptions configure a redrive.
type RedriveOptions struct {
	Limit int       // at most this many. Zero means all that match
	Rate  float64   // jobs per second: each is due that much after the one before. Zero means all at once
	From  time.Time // when the first is due. Zero means now
	After string    // only ids above this. Zero means all

	// Progress is called after each request with the result so far. Nil means no call.
	Progress func(Redriven)
}

// redriveStep is the number of dead letters in one request.
const redriveStep = 1000

// Redrive retries up to limit dead letters that match, in one request, the lowest id first; zero means the server's default,
// the maximum is 10,000. It is not retried after a lost answer.
func (c *Client) Redrive(ctx context.Context, f DeadFilter, limit int) (Redriven, error) {
	return c.redrive(ctx, f, RedriveOptions{Limit: limit}, false)
}

// RedriveAll retries dead letters that match, the lowest id first, request by request until none remains or the limit is
// reached. With an error it also returns the result so far: a further call with After and From set to Redriven's After and
// NextRunAt continues at the same rate. Each dead letter is retried once, even if it fails again before the redrive ends.
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
		if r.Remaining == 0 || r.Redriven+len(r.Conflicts) == 0 { // another redrive handles the rest
			return sum, nil
		}
		o.After, o.From = sum.After, sum.NextRunAt
	}
}

// CountDead counts the dead letters that match with ids above after; "" means all. At 100,000 it stops and sets capped.
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
