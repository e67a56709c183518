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

// Discard deletes up to limit dead letters that match for ever, and returns their number; zero means the server's default,
// the maximum is 10,000. It is not retried after a lost answer.
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
