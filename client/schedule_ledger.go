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

// Occurrence is a row of a schedule's ledger: what became of a due instant, or of several in a row.
type Occurrence struct {
	Outcome      string    `json:"outcome"` // fired, caught_up, covered or skipped
	ScheduledFor time.Time `json:"scheduled_for"`
	To           time.Time `json:"to,omitzero"` // of several, the last
	Count        int64     `json:"count"`
	Reason       string    `json:"reason,omitempty"` // why they were skipped
	JobID        string    `json:"job_id,omitempty"`
	At           time.Time `json:"at"` // when it was accounted for
}

// OccurrenceFilter selects rows of a ledger. Zero fields do not restrict.
type OccurrenceFilter struct {
	From    time.Time // instants at this time or later
	Outcome string
}

// Occurrences goes through a schedule's ledger, newest first. An error ends it: it comes with a nil row.
func (c *Client) Occurrences(ctx context.Context, tenant, name string, f OccurrenceFilter) iter.Seq2[*Occurrence, error] {
	q := ofTenant(tenant)
	q.Set("limit", "1000")
	set(q, "from", instant(f.From))
	set(q, "outcome", f.Outcome)
	return listed[Occurrence](ctx, c, schedulePath(name)+"/occurrences", q)
}

// Preview is what a rule comes to.
type Preview struct {
	Description string        `json:"description"`
	Items       []PreviewItem `json:"items"`    // fewer than asked for: the rule ends, or never matches again
	Warnings    []string      `json:"warnings"` // what may surprise
}

// PreviewItem is a due instant.
type PreviewItem struct {
	At  time.Time `json:"at"`            // with the zone's offset of its own date
	DST string    `json:"dst,omitempty"` // gap or overlap: a change of the clock has to do with it
}

// NextOccurrences are the next instants at which a schedule is due; count 0 means 10, 1,000 is the most.
func (c *Client) NextOccurrences(ctx context.Context, tenant, name string, count int) (*Preview, error) {
	q := ofTenant(tenant)
	if count != 0 {
		q.Set("count", strconv.Itoa(count))
	}
	return c.preview(ctx, call{method: http.MethodGet, path: schedulePath(name) + "/next", query: q, repeatable: true})
}

// PreviewSchedule says when a rule would be due after from; nothing is kept. from zero means now, count 0 means 10, 1,000
// is the most.
func (c *Client) PreviewSchedule(ctx context.Context, r Rule, from time.Time, count int) (*Preview, error) {
	body, err := encode(struct {
		ruleDoc
		From  time.Time `json:"from,omitzero"`
		Count int       `json:"count,omitempty"`
	}{r.document(), from, count})
	if err != nil {
		return nil, err
	}
	return c.preview(ctx, call{method: http.MethodPost, path: "/v1/schedules/preview", body: body, repeatable: true, reads: true})
}

func (c *Client) preview(ctx context.Context, call call) (*Preview, error) {
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	var p Preview
	undated := func(item PreviewItem) bool { return item.At.IsZero() }
	if json.Unmarshal(answer, &p) != nil || p.Description == "" || p.Items == nil || p.Warnings == nil || slices.ContainsFunc(p.Items, undated) {
		return nil, foreign(call.name())
	}
	return &p, nil
}

// Backfill is the answer of BackfillSchedule.
type Backfill struct {
	Count    int64     `json:"count"` // instants in the range
	Made     int       `json:"made"`  // jobs made by this call, at most 10,000
	DryRun   bool      `json:"dry_run"`
	JobIDs   []string  `json:"job_ids"`
	NextFrom time.Time `json:"next_from,omitzero"` // where a further call goes on. Zero means that the range is done
}

// BackfillSchedule makes a run, marked as made up late, for each instant of the rule from from on and before to. With dry
// it only counts. It is not tried again after a lost answer.
func (c *Client) BackfillSchedule(ctx context.Context, tenant, name string, from, to time.Time, dry bool) (*Backfill, error) {
	body, err := encode(map[string]any{"from": instant(from), "to": instant(to), "dry_run": dry})
	if err != nil {
		return nil, err
	}
	call := call{method: http.MethodPost, path: schedulePath(name) + "/backfill", query: ofTenant(tenant), body: body, repeatable: dry, reads: dry}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	var b Backfill
	if json.Unmarshal(answer, &b) != nil || b.JobIDs == nil {
		return nil, foreign(call.name())
	}
	return &b, nil
}

// Alert is something an operator should know: raised once, cleared once.
type Alert struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`    // such as schedule_missed
	Subject   string    `json:"subject"` // the schedule or type it is about
	Tenant    string    `json:"tenant,omitempty"`
	Detail    string    `json:"detail"`
	Count     int64     `json:"count,omitempty"` // how many jobs failed (job_failed)
	RaisedAt  time.Time `json:"raised_at"`
	ClearedAt time.Time `json:"cleared_at,omitzero"` // zero while it is open
}

// AlertFilter selects alerts. Zero fields do not restrict.
type AlertFilter struct {
	Tenant *string // a pointer to "" means those without a tenant
	Kind   string
	Open   bool // those that are not cleared
}

// Alerts goes through the alerts that match, newest first. An error ends it: it comes with a nil alert.
func (c *Client) Alerts(ctx context.Context, f AlertFilter) iter.Seq2[*Alert, error] {
	q := url.Values{"limit": {"1000"}}
	setTenant(q, f.Tenant)
	set(q, "kind", f.Kind)
	if f.Open {
		q.Set("open", "true")
	}
	return listed[Alert](ctx, c, "/v1/alerts", q)
}
