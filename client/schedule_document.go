package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// ruleDoc is the API's form of a rule.
type ruleDoc struct {
	Cron       string    `json:"cron,omitempty"`
	Every      string    `json:"every,omitempty"`
	TimeZone   string    `json:"time_zone,omitempty"`
	DSTGap     string    `json:"dst_gap,omitempty"`
	DSTOverlap string    `json:"dst_overlap,omitempty"`
	StartsAt   time.Time `json:"starts_at,omitzero"`
	EndsAt     time.Time `json:"ends_at,omitzero"`
}

func (r *Rule) document() ruleDoc {
	return ruleDoc{r.Cron, duration(r.Every), r.TimeZone, r.DSTGap, r.DSTOverlap, r.StartsAt, r.EndsAt}
}

// newScheduleDoc is the API's form of a definition, without the payload.
type newScheduleDoc struct {
	ruleDoc
	Tenant       string   `json:"tenant,omitempty"`
	Missed       string   `json:"missed,omitempty"`
	MissedWindow string   `json:"missed_window,omitempty"`
	MissedLimit  int      `json:"missed_limit,omitempty"`
	MissedGrace  string   `json:"missed_grace,omitempty"`
	Overlap      string   `json:"overlap,omitempty"`
	Jitter       string   `json:"jitter,omitempty"`
	ExpectWithin string   `json:"expect_within,omitempty"`
	ExpectPaused bool     `json:"expect_paused,omitempty"`
	Paused       bool     `json:"paused,omitempty"`
	Type         string   `json:"type"`
	Priority     Priority `json:"priority,omitempty"`
	MaxAttempts  int      `json:"max_attempts,omitempty"`
	Timeout      string   `json:"timeout,omitempty"`
	Backoff      []string `json:"backoff,omitempty"`
	ExpiresAfter string   `json:"expires_after,omitempty"`
	Target       *Target  `json:"target,omitempty"`
	Tags         []string `json:"tags,omitempty"`
}

// Document returns the definition in the API's form. The name is not included, because it is part of the path.
func (s *NewSchedule) Document() ([]byte, error) {
	return withPayload(newScheduleDoc{
		ruleDoc: s.document(), Tenant: s.Tenant, Missed: s.Missed, MissedWindow: duration(s.MissedWindow), MissedLimit: s.MissedLimit, MissedGrace: duration(s.MissedGrace),
		Overlap: s.Overlap, Jitter: duration(s.Jitter), ExpectWithin: duration(s.ExpectWithin), ExpectPaused: s.ExpectPaused, Paused: s.Paused,
		Type: s.Type, Priority: s.Priority, MaxAttempts: s.MaxAttempts, Timeout: duration(s.Timeout), Backoff: durations(s.Backoff), ExpiresAfter: duration(s.ExpiresAfter), Target: s.Target, Tags: s.Tags,
	}, s.Payload)
}

// scheduleDoc is the API's form of a schedule.
type scheduleDoc struct {
	newScheduleDoc
	Name        string          `json:"name"`
	Payload     json.RawMessage `json:"payload"`
	Version     int64           `json:"version"`
	Description string          `json:"description"`
	Invalid     string          `json:"invalid"`
	NextDue     time.Time       `json:"next_due"`
	AccountedTo time.Time       `json:"accounted_to"`
	WaitingFor  time.Time       `json:"waiting_for"`
	PausedAt    time.Time       `json:"paused_at"`
	ExpectBy    time.Time       `json:"expect_by"`
	Alerted     bool            `json:"alerted"`
	Active      bool            `json:"active"`
	TZData      string          `json:"tz_data"`
	CreatedAt   time.Time       `json:"created_at"`
	UpdatedAt   time.Time       `json:"updated_at"`

	OutOfRange map[string]string `json:"out_of_range"`
}

// UnmarshalJSON reads a definition in the API's form. An unknown field is an error that names it.
func (s *NewSchedule) UnmarshalJSON(document []byte) error {
	var d struct {
		newScheduleDoc
		Payload json.RawMessage `json:"payload"`
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return err
	}
	made, err := d.definition(d.Payload)
	if err == nil {
		*s = made
	}
	return err
}

// definition converts the document.
func (d *newScheduleDoc) definition(payload json.RawMessage) (NewSchedule, error) {
	made := NewSchedule{
		Rule:   Rule{Cron: d.Cron, TimeZone: d.TimeZone, DSTGap: d.DSTGap, DSTOverlap: d.DSTOverlap, StartsAt: d.StartsAt, EndsAt: d.EndsAt},
		Tenant: d.Tenant, Missed: d.Missed, MissedLimit: d.MissedLimit, Overlap: d.Overlap, ExpectPaused: d.ExpectPaused, Paused: d.Paused,
		Type: d.Type, Priority: d.Priority, MaxAttempts: d.MaxAttempts, Target: d.Target, Tags: d.Tags,
	}
	if payload != nil {
		made.Payload = payload
	}
	for _, field := range []struct {
		name, text string
		to         *time.Duration
	}{
		{"every", d.Every, &made.Every}, {"missed_window", d.MissedWindow, &made.MissedWindow}, {"missed_grace", d.MissedGrace, &made.MissedGrace},
		{"jitter", d.Jitter, &made.Jitter}, {"expect_within", d.ExpectWithin, &made.ExpectWithin}, {"timeout", d.Timeout, &made.Timeout},
		{"expires_after", d.ExpiresAfter, &made.ExpiresAfter},
	} {
		length, err := readDuration(field.text)
		if err != nil {
			return made, fmt.Errorf("%s: %q is not a duration", field.name, field.text)
		}
		*field.to = length
	}
	var err error
	if made.Backoff, err = readDurations(d.Backoff); err != nil {
		return made, fmt.Errorf("backoff: %w", err)
	}
	return made, nil
}

// UnmarshalJSON reads a schedule as the server writes it.
func (s *Schedule) UnmarshalJSON(document []byte) error {
	var d scheduleDoc
	if err := json.Unmarshal(document, &d); err != nil {
		return err
	}
	made, err := d.definition(d.Payload)
	if err != nil {
		return err
	}
	made.Name = d.Name
	*s = Schedule{
		NewSchedule: made, Version: d.Version, Description: d.Description, Invalid: d.Invalid, NextDue: d.NextDue, AccountedTo: d.AccountedTo, WaitingFor: d.WaitingFor,
		PausedAt: d.PausedAt, ExpectBy: d.ExpectBy, Alerted: d.Alerted, Active: d.Active, TZData: d.TZData, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt,
		OutOfRange: d.OutOfRange, document: bytes.Clone(document),
	}
	return nil
}

// MarshalJSON returns the document that the server wrote.
func (s *Schedule) MarshalJSON() ([]byte, error) {
	if s.document == nil {
		return []byte("null"), nil
	}
	return s.document, nil
}
