package openapi

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// Rules between fields, which no tag can say, and examples of whole documents.

// TransformSchema says that a job has one time at most.
func (NewJobDoc) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Not = &huma.Schema{Required: []string{"run_at", "delay"}}
	s.Examples = []any{json.RawMessage(`{"type":"mail.send","payload":{"to":"ada@example.com"},"delay":"1h30m","priority":"critical","tenant":"acme",` +
		`"dedupe_key":"welcome-ada","max_attempts":5,"tags":["welcome"]}`)}
	return s
}

// TransformSchema says that a job is given exactly one new time.
func (WhenDoc) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	one := 1
	s.MinProperties, s.MaxProperties = &one, &one
	s.Examples = []any{map[string]any{"delay": "10m"}}
	return s
}

// TransformSchema shows a job that waits.
func (JobDoc) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Examples = []any{json.RawMessage(`{"id":"17","type":"mail.send","payload":{"to":"ada@example.com"},"priority":"critical","tenant":"acme",` +
		`"run_at":"2026-03-01T13:30:00.000000Z","status":"scheduled","cancel_wanted":false,"attempts":0,"max_attempts":5,"errors":[],` +
		`"dedupe_key":"welcome-ada","tags":["welcome"],"created_at":"` + InstantExample + `"}`)}
	return s
}
