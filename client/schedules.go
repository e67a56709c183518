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
	Cron       string        // five fields, or six with seconds first, or @daily and its like. This or Every
	Every      time.Duration // plain elapsed time from StartsAt or creation
	TimeZone   string        // an IANA zone; "" means UTC
	DSTGap     string        // run_at_transition, shift or skip
	DSTOverlap string        // first, last or both
	StartsAt   time.Time     // no instant before it
	EndsAt     time.Time     // no instant at or after it
}

// NewSchedule is a schedule to be put. Zero fields take the server's defaults; the server judges every rule.
type NewSchedule struct {
	Rule
	Name   string // required, unique within its tenant
	Tenant string

	Missed       string        // all, once or skip
	MissedWindow time.Duration // what was missed longer ago is not made up
	MissedLimit  int           // with all: at most so many, the newest
	MissedGrace  time.Duration // later than this counts as missed
	Overlap      string        // allow, skip, queue_one or cancel_running
	Jitter       time.Duration
	ExpectWithin time.Duration // dead man's switch: a success is expected so long after each instant
	ExpectPaused bool          // also while it is paused
	Paused       bool

	Type         string // of its jobs; required
	Payload      any    // as NewJob's
	Priority     Priority
	MaxAttempts  int
	Timeout      time.Duration
	Backoff      []time.Duration
	ExpiresAfter time.Duration // a run is cancelled when it has not started so long after it may. Zero means what the type says
	Target       *Target
	Tags         []string
}

// Schedule is a schedule as it stood when the server answered.
type Schedule struct {
	NewSchedule        // Payload is a json.RawMessage
	Version     int64  // rises with every change of the definition: what IfVersion takes
	Description string // the rule in words; "" where it cannot be read
	// Invalid says why it makes no runs: its stored definition cannot be read, or somebody changed its row so that it never comes
	// due. Putting a definition, also the same one, mends it. "" means that nothing is wrong.
	Invalid     string
	NextDue     time.Time
	AccountedTo time.Time // every due instant up to here is in the ledger
	WaitingFor  time.Time // the instant whose run waits for the one before it
	PausedAt    time.Time
	ExpectBy    time.Time // when a success is next missed
	Alerted     bool      // a success was missed, and nothing has succeeded since
	Active      bool      // a run has not ended yet
	TZData      string    // version of the time zone database that NextDue was computed with
	CreatedAt   time.Time
	UpdatedAt   time.Time
	// OutOfRange is as of Job: {"next_due": "infinity"}.
	OutOfRange map[string]string

	document []byte
}

// Document is the schedule as the server wrote it, byte for byte.
func (s *Schedule) Document() json.RawMessage { return s.document }

// Condition says in which version a call may find a schedule.
type Condition struct {
	IfVersion int64 // only in this one: Schedule.Version. Zero means any
	IfAbsent  bool  // Put: only where there is none yet
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

// PutSchedule makes a schedule, or replaces the definition there is as a whole; made tells which. Putting the same again
// changes nothing. ErrChanged means that the condition does not hold. Without a condition it is tried again after a lost
// answer.
func (c *Client) PutSchedule(ctx context.Context, s NewSchedule, condition Condition) (kept *Schedule, made bool, err error) {
	body, err := s.Document()
	if err != nil {
		return nil, false, err
	}
	return c.PutScheduleDocument(ctx, s.Name, body, condition)
}

// GetSchedule looks at a schedule. tenant "" means the token's own, or none.
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

// Schedules goes through the schedules that match, by tenant and name. An error ends it: it comes with a nil schedule.
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

// PauseSchedule stops a schedule until it is resumed. One that is paused stays as it is.
func (c *Client) PauseSchedule(ctx context.Context, tenant, name string) (*Schedule, error) {
	return c.turn(ctx, tenant, name, "pause")
}

// ResumeSchedule ends a pause: runs that came due in it follow the missed policy, once.
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

// TriggerSchedule makes a run now, beside the rule. It is not tried again after a lost answer.
func (c *Client) TriggerSchedule(ctx context.Context, tenant, name string) (*Job, error) {
	call := call{method: http.MethodPost, path: schedulePath(name) + "/trigger", query: ofTenant(tenant)}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	return readJob(call.name(), answer)
}

// noSchedule stands in a path for a name that no schedule can have, because its path leads elsewhere. No other path has it.
const noSchedule = "\x00"

// schedulePath is the path of a schedule. Any other name may be one, so that there is none to send in place of those that cannot.
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
