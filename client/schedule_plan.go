package client

import (
	"context"
	"encoding/json"
	"net/http"
	"unicode/utf8"
)

// SchedulePlan describes the effect of putting a definition.
type SchedulePlan struct {
	Tenant      string   `json:"tenant,omitempty"`
	Action      string   `json:"action"` // create, change, or none
	Fields      []string `json:"fields"` // names of the fields that change; a target's header as target.headers.NAME
	Version     int64    `json:"version"`
	Description string   `json:"description"` // the new rule in words
}

// PlanSchedule returns what PutScheduleDocument would change, and changes nothing. It refuses what that call would refuse.
// Values are compared by meaning, including those of a target's headers.
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

// PutScheduleDocument is PutSchedule for a definition that is JSON already, in the API's form. It is sent byte for byte: a
// field that is present counts as set, even if it is empty.
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
