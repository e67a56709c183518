package openapi

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-dev/belfry/functions/api/problem"
)

// InstantExample is the time that stands in examples.
const InstantExample = "2026-03-01T12:00:00.000000Z"

// exampleOf makes a value that a schema accepts: its own example where it has one, else its first word, else
// the least that will do. An object gets what it must have and what has an example of its own.
func exampleOf(schemas huma.Registry, s *huma.Schema) any {
	switch {
	case s.Ref != "":
		return exampleOf(schemas, schemas.SchemaFromRef(s.Ref))
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AnyOf) > 0:
		return exampleOf(schemas, s.AnyOf[0])
	}
	switch s.Type {
	case huma.TypeString:
		return textExample(s)
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case huma.TypeBoolean:
		return false
	case huma.TypeArray:
		return []any{exampleOf(schemas, s.Items)}
	}
	return objectExample(schemas, s)
}

func textExample(s *huma.Schema) string {
	switch {
	case s.Format == "date-time":
		return InstantExample
	case s.Format == "uri":
		return "https://example.com/hook"
	case s.Pattern == idPattern:
		return "17"
	case s.Pattern == durationPattern:
		return "30s"
	}
	return "text"
}

func objectExample(schemas huma.Registry, s *huma.Schema) map[string]any {
	object := map[string]any{}
	for name, of := range s.Properties {
		if hasExample(schemas, of) {
			object[name] = exampleOf(schemas, of)
		}
	}
	for _, name := range s.Required {
		if of := s.Properties[name]; of != nil {
			object[name] = exampleOf(schemas, of)
		}
	}
	return object
}

// hasExample reports whether somebody chose an example for this very schema.
func hasExample(schemas huma.Registry, s *huma.Schema) bool {
	if s.Ref != "" {
		s = schemas.SchemaFromRef(s.Ref)
	}
	return len(s.Examples) > 0
}

// problemExamples are the sentences of examples of problems. What they say holds for every operation that may
// answer so.
var problemExamples = map[int]problem.Problem{
	http.StatusBadRequest:            {Detail: "body: is not JSON: unexpected end (line 1, column 2)", Errors: []problem.FieldProblem{{Field: "body", Rule: "is not JSON: unexpected end (line 1, column 2)"}}},
	http.StatusUnauthorized:          {Detail: "this call needs a bearer token: Authorization: Bearer …"},
	http.StatusForbidden:             {Detail: "requests from pages of another origin are refused"},
	http.StatusNotFound:              {Detail: "there is nothing with this name"},
	http.StatusConflict:              {Detail: "the job's state does not allow it", Reason: "the job is done"},
	http.StatusRequestTimeout:        {Detail: "the body did not arrive in time"},
	http.StatusRequestEntityTooLarge: {Detail: "body: is too large, at most 1114112 bytes are read", Errors: []problem.FieldProblem{{Field: "body", Rule: "is too large, at most 1114112 bytes are read"}}},
	http.StatusUnsupportedMediaType:  {Detail: "Content-Type: must be application/json", Errors: []problem.FieldProblem{{Field: "Content-Type", Rule: "must be application/json"}}},
	http.StatusTooManyRequests:       {Detail: "too many requests wait already; try again"},
	http.StatusInternalServerError:   {Detail: "internal error; see the server log"},
	http.StatusServiceUnavailable:    {Detail: "the store cannot be reached; try again"},
}

// problemExample is a problem as this operation may answer it.
func problemExample(op *huma.Operation, status int) *problem.Problem {
	p := problem.New(status, problemExamples[status].Detail)
	p.Errors, p.Reason = problemExamples[status].Errors, problemExamples[status].Reason
	switch {
	case status == http.StatusUnprocessableEntity && op.RequestBody != nil:
		p.Errors = []problem.FieldProblem{{Field: "colour", Rule: "is not a field here"}}
	case status == http.StatusUnprocessableEntity:
		p.Errors = []problem.FieldProblem{{Field: "colour", Rule: "is not a parameter of this call"}}
	case status == http.StatusNotFound && strings.HasPrefix(op.Path, "/v1/jobs/"):
		p.Detail = "there is no job with this id"
	case p.Detail == "":
		p.Detail = http.StatusText(status)
	}
	if len(p.Errors) > 0 && p.Detail != problemExamples[status].Detail || p.Detail == "" {
		p.Detail = p.Errors[0].Field + ": " + p.Errors[0].Rule
	}
	return p
}
