// Package problem is what the API answers when it refuses a request: RFC 9457 problem details.
package problem

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/belfry-dev/belfry/core"
)

// Problem is an RFC 9457 problem document, the body of every answer that is an error. It says nothing of the
// inside: no SQL, no address, no value that was sent.
type Problem struct {
	Type   string         `json:"type" doc:"Always about:blank: status and title say what kind of problem it is."`
	Title  string         `json:"title" doc:"The status in words." example:"Unprocessable Entity"`
	Status int            `json:"status" doc:"The HTTP status." example:"422"`
	Detail string         `json:"detail" doc:"What is wrong, for a person to read."`
	Errors []FieldProblem `json:"errors,omitempty" doc:"Every field that breaks a rule."`
	Reason string         `json:"reason,omitempty" doc:"409: why the job's state does not allow it."`
	JobID  string         `json:"job_id,omitempty" doc:"409: the live job that holds the dedupe key."`

	header http.Header
}

// FieldProblem names a field and the rule it breaks.
type FieldProblem struct {
	Field string `json:"field" doc:"Path in the document, or the name of a parameter or header." example:"jobs[3].run_at"`
	Rule  string `json:"rule" doc:"What is allowed." example:"must lie between 10 years ago and 100 years ahead"`
}

// New makes a problem of a status and a sentence.
func New(status int, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

// Error makes a Problem an error, so that a handler can return one.
func (p *Problem) Error() string { return strconv.Itoa(p.Status) + " " + p.Detail }

// With adds a header to the answer.
func (p *Problem) With(name, value string) *Problem {
	if p.header == nil {
		p.header = http.Header{}
	}
	p.header.Set(name, value)
	return p
}

// Headers are those that with added.
func (p *Problem) Headers() http.Header { return p.header }

// Field is a problem of one field.
func Field(status int, field, rule string) *Problem {
	return Fields(status, core.FieldErrors{{Field: field, Rule: rule}})
}

// Fields is a problem of several fields. Its detail is the first.
func Fields(status int, errs core.FieldErrors) *Problem {
	p := New(status, errs[0].Error())
	if len(errs) > 1 {
		p.Detail += " (and " + strconv.Itoa(len(errs)-1) + " more)"
	}
	for _, e := range errs {
		p.Errors = append(p.Errors, FieldProblem{e.Field, e.Rule})
	}
	return p
}

// Encode is the document.
func (p *Problem) Encode() []byte {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return body
}
