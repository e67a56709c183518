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

// Occurrence is a row of a schedule's ledger: the outcome of one due instant, or of several in a row.
type Occurrence struct {
	Outcome      string    `json:"outcome"` // fired, caught_up, covered or skipped
	ScheduledFor time.Time `json:"scheduled_for"`
	To           time.Time `json:"to,omitzero"` // the last instant if there are several
	Count        int64     `json:"count"`
	Reason       string    `json:"reason,omitempty"` // why the instants were skipped
	JobID        string    `json:"job_id,omitempty"`
	At           time.Time `json:"at"` // when the instants were accounted for
}

// OccurrenceFilter selects rows of a ledger. Zero fields do not restrict.
type OccurrenceFilter struct {
	From    time.Time // instants at or after this time
	Outcome string
}

// Occurrences iterates over a schedule's ledger, newest first. An error ends it and comes with a nil row.
func (c *Client) Occurrences(ctx context.Context, tenant, name string, f OccurrenceFilter) iter.Seq2[*Occurrence, error] {
	q := ofTenant(tenant)
	q.Set("limit", "1000")
	set(q, "from", instant(f.From))
	set(q, "outcome", f.Outcome)
	return listed[Occurrence](ctx, c, schedulePath(name)+"/occurrences", q)
}

// Preview lists the next due instants of a rule.
type Preview struct {
	Description string        `json:"description"`
	Items       []PreviewItem `json:"items"`    // fewer than requested if the rule ends or never matches again
	Warnings    []string      `json:"warnings"` // properties of the rule that may surprise
}

// PreviewItem is a due instant.
type PreviewItem struct {
	At  time.Time `json:"at"`            // with the zone's offset on that date
	DST string    `json:"dst,omitempty"` // gap or overlap: a change of the clock affects it
}

// NextOccurrences returns the next due instants of a schedule. count 0 means 10; the maximum is 1,000.
func (c *Client) NextOccurrences(ctx context.Context, tenant, name string, count int) (*Preview, error) {
	q := ofTenant(tenant)
	if count != 0 {
		q.Set("count", strconv.Itoa(count))
	}
	return c.preview(ctx, call{method: http.MethodGet, path: schedulePath(name) + "/next", query: q, repeatable: true})
}

// PreviewSchedule returns when a rule would be due after from. Nothing is stored. from zero means now, and count 0 means 10;
// the maximum is 1,000.
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

// Backfill is the result of BackfillSchedule.
type Backfill struct {
	Count    int64     `json:"count"` // instants in the range
	Made     int       `json:"made"`  // jobs made by this call, at most 10,000
	DryRun   bool      `json:"dry_run"`
	JobIDs   []string  `json:"job_ids"`
	NextFrom time.Time `json:"next_from,omitzero"` // where the next call must start. Zero means that the range is done
}

// BackfillSchedule makes a run, marked as made up late, for each instant of the rule in [from, to). With dry it only counts.
// It is not retried after a lost answer.
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

// Alert reports a problem to an operator. It is raised once and cleared once.
type Alert struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`    // for example schedule_missed
	Subject   string    `json:"subject"` // the schedule or type it is about
	Tenant    string    `json:"tenant,omitempty"`
	Detail    string    `json:"detail"`
	Count     int64     `json:"count,omitempty"` // number of failed jobs (job_failed)
	RaisedAt  time.Time `json:"raised_at"`
	ClearedAt time.Time `json:"cleared_at,omitzero"` // zero while it is open
}

// AlertFilter selects alerts. Zero fields do not restrict.
type AlertFilter struct {
	Tenant *string // a pointer to "" means those without a tenant
	Kind   string
	Open   bool // only alerts that are not cleared
}

// Alerts iterates over the alerts that match, newest first. An error ends it and comes with a nil alert.
func (c *Client) Alerts(ctx context.Context, f AlertFilter) iter.Seq2[*Alert, error] {
	q := url.Values{"limit": {"1000"}}
	setTenant(q, f.Tenant)
	set(q, "kind", f.Kind)
	if f.Open {
		q.Set("open", "true")
	}
	return listed[Alert](ctx, c, "/v1/alerts", q)
}
