package client

import (
	"context"
	"encoding/json"
	"net/http"
	"unicode/utf8"
)

// SchedulePlan is what putting a definition would do.
type SchedulePlan struct {
	Tenant      string   `json:"tenant,omitempty"`
	Action      string   `json:"action"` // create, change, or none
	Fields      []string `json:"fields"` // what changes, by name; a header of a target as target.headers.NAME
	Version     int64    `json:"version"`
	Description string   `json:"description"` // the new rule in words
}

// PlanSchedule says what PutScheduleDocument would change, and keeps nothing. It is refused what that would be refused.
// Values are compared by what they mean, those of a target's headers too.
func (c *Client) PlanSchedule(ctx context.Context, name string, definition json.RawMessage) (*SchedulePlan, error) {
	if !utf8.Valid(definition) {
		return nil, FieldErrors{{Field: "definition", Rule: textRule}}
	}
	call := call{method: http.MethodPost, path: schedulePath(name) + "/plan", body: definition, repeatable: true, reads: true}
	_, answer, err := c.do(ctx, call)
	if err != nil {
		return nil, err
	}
	var p SchedulePlan
	if json.Unmarshal(answer, &p) != nil || p.Action == "" || p.Fields == nil {
		return nil, foreign(call.name())
	}
	return &p, nil
}

// PutScheduleDocument is PutSchedule for a definition that is JSON already, as the API reads it. It is sent as it is: what is
// given there is given, also where it is empty.
func (c *Client) PutScheduleDocument(ctx context.Context, name string, definition json.RawMessage, condition Condition) (kept *Schedule, made bool, err error) {
	if !utf8.Valid(definition) {
		return nil, false, FieldErrors{{Field: "definition", Rule: textRule}}
	}
	call := call{method: http.MethodPut, path: schedulePath(name), body: definition, header: condition.header(), repeatable: condition == Condition{}}
	status, answer, err := c.do(ctx, call)
	if err != nil {
		return nil, false, err
	}
	kept, err = readSchedule(call.name(), answer)
	return kept, status == http.StatusCreated, err
}
