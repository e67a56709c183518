package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// DeadFilter selects dead letters. Redrive and Discard need at least one field; All selects all dead letters. A call
// refuses, by name, a field that it cannot filter by.
type DeadFilter struct {
	Type         string
	Tenant       *string   // a pointer to "" means those without a tenant
	ErrorGroup   string    // those with one kind of error: DeadGroup.ErrorGroup
	FailedBefore time.Time // those that failed before
	IDs          []string  // Redrive and Discard, 1 to 1,000; empty but not nil is refused, because it could mean all
	All          bool
}

// DeadLetters iterates over the dead letters that match, newest first, as List does.
func (c *Client) DeadLetters(ctx context.Context, f DeadFilter) iter.Seq2[*Job, error] {
	q := f.query()
	q.Del("all") // a list without a filter is all of them
	q.Set("limit", "1000")
	return c.pages(ctx, "/v1/dead-letters", q)
}

// DeadGroup is a group of dead letters of one type with one kind of error: their last errors differ only in numbers, ids,
// addresses and quoted parts.
type DeadGroup struct {
	Count       int       `json:"count"`
	Type        string    `json:"type"`
	ErrorGroup  string    `json:"error_group"` // for DeadFilter; it stays the same
	Error       string    `json:"error"`       // the last error of the newest one
	FirstFailed time.Time `json:"first_failed_at"`
	LastFailed  time.Time `json:"last_failed_at"`
}

// DeadGroups counts dead letters by error group.
type DeadGroups struct {
	Items  []DeadGroup `json:"items"`  // the largest first
	Capped bool        `json:"capped"` // the newest 100,000 were counted: there may be more
}

// DeadGroups counts the dead letters that match by error group, at most limit groups; zero means the server's default, the
// maximum is 1,000.
func (c *Client) DeadGroups(ctx context.Context, f DeadFilter, limit int) (DeadGroups, error) {
	q := f.query()
	q.Del("all")
	if limit != 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	call := call{method: http.MethodGet, path: "/v1/dead-letters/groups", query: q, repeatable: true}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return DeadGroups{}, err
	}
	var groups DeadGroups
	nothing := func(g DeadGroup) bool { return g.ErrorGroup == "" }
	if json.Unmarshal(answer, &groups) != nil || groups.Items == nil || slices.ContainsFunc(groups.Items, nothing) {
		return DeadGroups{}, foreign(call.name())
	}
	return groups, nil
}

// Discarded is the result of a discard.
type Discarded struct {
	Discarded int      `json:"discarded"` // deleted for good
	Left      []string `json:"left"`      // ids of dead letters that the store cannot delete; at most 1,000
	LeftCount int      `json:"left_count"`
}

// maxLeft bounds the ids in Discarded.Left.
const maxLeft = 1000

// DiscardOptions configure DiscardAll.
type DiscardOptions struct {
	Limit int // maximum number to delete or skip. Zero means all that match

	// Progress is called after each request with the result so far. Nil means no call.
	Progress func(Discarded)
}

// discardStep is the number of dead letters that one request deletes.
const discardStep = 1000

// Discard deletes up to limit dead letters that match for ever, and returns their number; zero means the server's default,
// the maximum is 10,000. It is not retried after a lost answer.
func (c *Client) Discard(ctx context.Context, f DeadFilter, limit int) (int, error) {
	answer, err := c.discard(ctx, f, limit, "")
	return answer.Discarded.Discarded, err
}

// DiscardAll deletes dead letters that match, the lowest id first, request by request until none remains or the limit is
// reached. It skips dead letters that the store cannot delete. With an error it returns the counts so far.
func (c *Client) DiscardAll(ctx context.Context, f DeadFilter, o DiscardOptions) (Discarded, error) {
	sum, after := Discarded{Left: []string{}}, ""
	for {
		limit := discardStep
		if o.Limit > 0 {
			limit = min(limit, o.Limit-sum.Discarded-sum.LeftCount)
		}
		if limit <= 0 {
			return sum, nil
		}
		answer, err := c.discard(ctx, f, limit, after)
		if err != nil {
			return sum, err
		}
		left := len(answer.Left)
		sum.Discarded, sum.LeftCount = sum.Discarded+answer.Discarded.Discarded, sum.LeftCount+left
		sum.Left = append(sum.Left, answer.Left[:min(left, maxLeft-len(sum.Left))]...)
		if o.Progress != nil {
			o.Progress(sum)
		}
		if answer.Remaining == 0 || answer.After == after || answer.Discarded.Discarded+left == 0 { // another call handles the rest
			return sum, nil
		}
		after = answer.After
	}
}

// discardAnswer is the answer to one request. Older servers send neither After nor Left.
type discardAnswer struct {
	Discarded
	Remaining int    `json:"remaining"`
	After     string `json:"after"`
}

func (c *Client) discard(ctx context.Context, f DeadFilter, limit int, after string) (discardAnswer, error) {
	var answer discardAnswer
	if f.IDs != nil && len(f.IDs) == 0 {
		return answer, FieldErrors{{Field: "id", Rule: "must stand 1 to 1000 times"}}
	}
	q := f.query()
	if limit != 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	set(q, "after", after)
	call := call{method: http.MethodDelete, path: "/v1/dead-letters", query: q}
	_, text, err := c.do(ctx, call)
	if err != nil {
		return answer, err
	}
	var d struct {
		Discarded *int `json:"discarded"`
	}
	if json.Unmarshal(text, &d) != nil || d.Discarded == nil || json.Unmarshal(text, &answer) != nil {
		return answer, foreign(call.name())
	}
	return answer, nil
}

func (f *DeadFilter) query() url.Values {
	q := url.Values{}
	set(q, "type", f.Type)
	setTenant(q, f.Tenant)
	set(q, "error_group", f.ErrorGroup)
	set(q, "failed_before", instant(f.FailedBefore))
	for _, id := range f.IDs {
		q.Add("id", id)
	}
	if f.All {
		q.Set("all", "true")
	}
	return q
}
