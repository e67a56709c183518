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

// Filter selects jobs. Zero fields do not restrict.
type Filter struct {
	Statuses  []Status
	Type      string
	Tenant    *string // a pointer to "" means the jobs without a tenant
	Priority  Priority
	Tag       string
	RunAfter  time.Time // run_at ≥
	RunBefore time.Time // run_at <
	PageSize  int       // jobs of one request, at most 1,000. Zero means the server's default
}

// List goes through the jobs that match, newest first, page by page as far as the loop goes. Where few match among
// many, one job may take several requests. An error ends it: it comes with a nil job.
func (c *Client) List(ctx context.Context, f Filter) iter.Seq2[*Job, error] {
	q := url.Values{}
	for _, s := range f.Statuses {
		q.Add("status", string(s))
	}
	set(q, "type", f.Type)
	setTenant(q, f.Tenant)
	set(q, "priority", string(f.Priority))
	set(q, "tag", f.Tag)
	set(q, "run_after", instant(f.RunAfter))
	set(q, "run_before", instant(f.RunBefore))
	if f.PageSize != 0 {
		q.Set("limit", strconv.Itoa(f.PageSize))
	}
	return c.pages(ctx, "/v1/jobs", q)
}

// pages goes through a list of jobs.
func (c *Client) pages(ctx context.Context, path string, q url.Values) iter.Seq2[*Job, error] {
	return func(yield func(*Job, error) bool) {
		query := url.Values{}
		for name, values := range q {
			query[name] = values
		}
		for {
			page, next, err := c.page(ctx, path, query)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, job := range page {
				if !yield(job, nil) {
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

func (c *Client) page(ctx context.Context, path string, query url.Values) ([]*Job, string, error) {
	call := call{method: http.MethodGet, path: path, query: query, repeatable: true}
	_, body, err := c.do(ctx, call)
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Items      []*Job `json:"items"`
		NextCursor string `json:"next_cursor"`
	}
	if json.Unmarshal(body, &page) != nil || page.Items == nil {
		return nil, "", foreign(call.name())
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
