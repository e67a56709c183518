package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Filter selects jobs. Zero fields do not restrict.
type Filter struct {
	Statuses  []Status
	Type      string
	Tenant    *string // a pointer to "" means the jobs without a tenant
	Priority  Priority
	Tag       string
	Schedule  string    // jobs that the schedule of this name made
	RunAfter  time.Time // run_at ≥
	RunBefore time.Time // run_at <
	PageSize  int       // jobs of one request, at most 1,000. Zero means the server's default
}

// List iterates over the jobs that match, newest first, and fetches pages as the loop needs them. If few of many jobs match,
// one job may take several requests. An error ends it and comes with a nil job.
func (c *Client) List(ctx context.Context, f Filter) iter.Seq2[*Job, error] {
	q := url.Values{}
	for _, s := range f.Statuses {
		q.Add("status", string(s))
	}
	set(q, "type", f.Type)
	setTenant(q, f.Tenant)
	set(q, "priority", string(f.Priority))
	set(q, "tag", f.Tag)
	set(q, "schedule", f.Schedule)
	set(q, "run_after", instant(f.RunAfter))
	set(q, "run_before", instant(f.RunBefore))
	if f.PageSize != 0 {
		q.Set("limit", strconv.Itoa(f.PageSize))
	}
	return c.pages(ctx, "/v1/jobs", q)
}

// pages iterates over a list of jobs.
func (c *Client) pages(ctx context.Context, path string, q url.Values) iter.Seq2[*Job, error] {
	return listed[Job](ctx, c, path, q)
}

// listed iterates over a list, page by page. A page before the last may be short or empty.
func listed[T any](ctx context.Context, c *Client, path string, q url.Values) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for query := maps.Clone(q); ; {
			page, next, err := pageOf[T](ctx, c, path, query)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			query.Set("cursor", next)
		}
	}
}

func pageOf[T any](ctx context.Context, c *Client, path string, query url.Values) ([]*T, string, error) {
	call := call{method: http.MethodGet, path: path, query: query, repeatable: true}
	_, body, err := c.do(ctx, call)
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Items      []*T   `json:"items"`
		NextCursor string `json:"next_cursor"`
	}
	if json.Unmarshal(body, &page) != nil || page.Items == nil || slices.Contains(page.Items, nil) {
		return nil, "", foreign(call.name())
	}
	if page.NextCursor != "" && page.NextCursor == query.Get("cursor") {
		return nil, "", fmt.Errorf("%s: %w: a page leads to itself", call.name(), ErrForeign)
	}
	return page.Items, page.NextCursor, nil
}

// set adds a parameter, unless it is empty.
func set(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

func setTenant(q url.Values, tenant *string) {
	if tenant != nil {
		q.Set("tenant", *tenant)
	}
}
