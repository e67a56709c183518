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

// Rule says when a schedule is due. Zero fields take the server's defaults.
type Rule struct {
	Cron       string        // five fields, six with seconds first, or a name such as @daily. Set Cron or Every
	Every      time.Duration // plain elapsed time from StartsAt or creation
	TimeZone   string        // an IANA zone; "" means UTC
	DSTGap     string        // run_at_transition, shift or skip
	DSTOverlap string        // first, last or both
	StartsAt   time.Time     // no run before it
	EndsAt     time.Time     // no run at or after it
}

// NewSchedule is a schedule to create or replace. Zero fields take the server's defaults; the server checks every rule.
type NewSchedule struct {
	Rule
	Name   string // required, unique within its tenant
	Tenant string

	Missed       string        // all, once or skip
	MissedWindow time.Duration // runs missed longer ago are not made up
	MissedLimit  int           // with all: maximum number of runs made up; the newest are kept
	MissedGrace  time.Duration // a later run counts as missed
	Overlap      string        // allow, skip, queue_one or cancel_running
	Jitter       time.Duration
	ExpectWithin time.Duration // dead man's switch: maximum time from each instant to a success
	ExpectPaused bool          // also expect successes while paused
	Paused       bool

	Type         string // of its jobs; required
	Payload      any    // as NewJob's
	Priority     Priority
	MaxAttempts  int
	Timeout      time.Duration
	Backoff      []time.Duration
	ExpiresAfter time.Duration // a run is cancelled if it has not started this long after it may. Zero means the type's value
	Target       *Target
	Tags         []string
}

// Schedule is a schedule at the time of the server's answer.
type Schedule struct {
	NewSchedule        // Payload is a json.RawMessage
	Version     int64  // rises with every change of the definition; use it for IfVersion
	Description string // the rule in words; "" if it cannot be read
	// Invalid says why the schedule makes no runs: its stored definition cannot be read, or its row was changed by hand so
	// that it never comes due. Putting a definition repairs it, even the same one. "" means that it is valid.
	Invalid     string
	NextDue     time.Time
	AccountedTo time.Time // every due instant up to here is in the ledger
	WaitingFor  time.Time // the instant whose run waits for the previous run
	PausedAt    time.Time
	ExpectBy    time.Time // an alert is raised if no success is recorded by then
	Alerted     bool      // a success was missed, and no run has succeeded since
	Active      bool      // a run has not ended yet
	TZData      string    // version of the time zone database used for NextDue
	CreatedAt   time.Time
	UpdatedAt   time.Time
	// OutOfRange is like Job.OutOfRange: {"next_due": "infinity"}.
	OutOfRange map[string]string

	document []byte
}

// Document returns the schedule as the server wrote it, byte for byte.
func (s *Schedule) Document() json.RawMessage { return s.document }

// Condition restricts a call to one version of a schedule.
type Condition struct {
	IfVersion int64 // only this Schedule.Version. Zero means any
	IfAbsent  bool  // Put: only if there is none yet
}

func (c Condition) header() map[string]string {
	h := map[string]string{}
	if c.IfVersion != 0 {
		h["If-Match"] = strconv.Quote(strconv.FormatInt(c.IfVersion, 10))
	}
	if c.IfAbsent {
		h["If-None-Match"] = "*"
	}
	return h
}

// PutSchedule creates a schedule or replaces its whole definition; made says which. Putting the same definition again
// changes nothing. ErrChanged means that the condition is not met. Without a condition the call is retried after a lost
// answer.
func (c *Client) PutSchedule(ctx context.Context, s NewSchedule, condition Condition) (kept *Schedule, made bool, err error) {
	body, err := s.Document()
	if err != nil {
		return nil, false, err
	}
	return c.PutScheduleDocument(ctx, s.Name, body, condition)
}

// GetSchedule returns a schedule. tenant "" means the token's tenant, or none.
func (c *Client) GetSchedule(ctx context.Context, tenant, name string) (*Schedule, error) {
	call := call{method: http.MethodGet, path: schedulePath(name), query: ofTenant(tenant), repeatable: true}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	return readSchedule(call.name(), answer)
}

// ScheduleFilter selects schedules. Zero fields do not restrict.
type ScheduleFilter struct {
	Tenant *string // a pointer to "" means those without a tenant
	Type   string
	Paused *bool
}

// Schedules iterates over the schedules that match, by tenant and name. An error ends it and comes with a nil schedule.
func (c *Client) Schedules(ctx context.Context, f ScheduleFilter) iter.Seq2[*Schedule, error] {
	q := url.Values{"limit": {"1000"}}
	setTenant(q, f.Tenant)
	set(q, "type", f.Type)
	if f.Paused != nil {
		q.Set("paused", strconv.FormatBool(*f.Paused))
	}
	return listed[Schedule](ctx, c, "/v1/schedules", q)
}

// DeleteSchedule deletes a schedule with its ledger; its jobs stay.
func (c *Client) DeleteSchedule(ctx context.Context, tenant, name string, condition Condition) error {
	_, _, err := c.do(ctx, call{method: http.MethodDelete, path: schedulePath(name), query: ofTenant(tenant), header: condition.header()})
	return err
}

// PauseSchedule pauses a schedule until it is resumed. It does not change a paused schedule.
func (c *Client) PauseSchedule(ctx context.Context, tenant, name string) (*Schedule, error) {
	return c.turn(ctx, tenant, name, "pause")
}

// ResumeSchedule ends a pause. Runs that came due in the pause follow the missed policy.
func (c *Client) ResumeSchedule(ctx context.Context, tenant, name string) (*Schedule, error) {
	return c.turn(ctx, tenant, name, "resume")
}

func (c *Client) turn(ctx context.Context, tenant, name, act string) (*Schedule, error) {
	call := call{method: http.MethodPost, path: schedulePath(name) + "/" + act, query: ofTenant(tenant), repeatable: true}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	return readSchedule(call.name(), answer)
}

// TriggerSchedule makes a run now, outside the rule. It is not retried after a lost answer.
func (c *Client) TriggerSchedule(ctx context.Context, tenant, name string) (*Job, error) {
	call := call{method: http.MethodPost, path: schedulePath(name) + "/trigger", query: ofTenant(tenant)}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	return readJob(call.name(), answer)
}

// noSchedule replaces a name that a URL path cannot express, such as one that leads to another path. It is not a valid name.
const noSchedule = "\x00"

// schedulePath returns the path of a schedule. A name that a path cannot express becomes noSchedule, because any valid name
// could belong to another schedule.
func schedulePath(name string) string {
	switch name {
	case "", ".", "..", "preview":
		return "/v1/schedules/" + noSchedule
	}
	return "/v1/schedules/" + url.PathEscape(name)
}

func ofTenant(tenant string) url.Values {
	q := url.Values{}
	set(q, "tenant", tenant)
	return q
}

func readSchedule(call string, document []byte) (*Schedule, error) {
	var s Schedule
	if err := json.Unmarshal(document, &s); err != nil || s.Name == "" {
		return nil, foreign(call)
	}
	return &s, nil
}
