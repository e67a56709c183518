package api

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

// newProblem makes a problem of a status and a sentence.
func newProblem(status int, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

// Error makes a Problem an error, so that a handler can return one.
func (p *Problem) Error() string { return strconv.Itoa(p.Status) + " " + p.Detail }

// with adds a header to the answer.
func (p *Problem) with(name, value string) *Problem {
	if p.header == nil {
		p.header = http.Header{}
	}
	p.header.Set(name, value)
	return p
}

// headers are those that with added.
func (p *Problem) headers() http.Header { return p.header }

// fieldProblem is a problem of one field.
func fieldProblem(status int, field, rule string) *Problem {
	return fieldsProblem(status, core.FieldErrors{{Field: field, Rule: rule}})
}

// fieldsProblem is a problem of several fields. Its detail is the first.
func fieldsProblem(status int, errs core.FieldErrors) *Problem {
	p := newProblem(status, errs[0].Error())
	if len(errs) > 1 {
		p.Detail += " (and " + strconv.Itoa(len(errs)-1) + " more)"
	}
	for _, e := range errs {
		p.Errors = append(p.Errors, FieldProblem{e.Field, e.Rule})
	}
	return p
}

// encode is the document.
func (p *Problem) encode() []byte {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and numbers always marshal
	}
	return body
}

// write sends the document.
func (p *Problem) write(w http.ResponseWriter) {
	for name, values := range p.headers() {
		w.Header()[name] = values
	}
	writeBody(w, p.Status, "application/problem+json", p.encode())
}

// writeBody sends an answer. An error means that the client is gone: nobody is left to tell.
func writeBody(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if a, ok := w.(*answer); ok {
		if len(body) > largeAnswer {
			a.writeLarge(status, body)
			return
		}
		a.hold.force(int64(len(body))) // all else of the request is done with
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec // JSON, sent as JSON with nosniff
}

// writeJSON sends a document.
func writeJSON(w http.ResponseWriter, status int, body []byte) {
	writeBody(w, status, "application/json", body)
}
