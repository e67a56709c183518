package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Sentinels for errors.Is. A *Problem matches the sentinels of its status.
var (
	ErrNotFound     = errors.New("not found")                                       // 404: it does not exist for this token
	ErrConflict     = errors.New("the state does not allow it")                     // 409: see Problem.Reason and Problem.JobID
	ErrChanged      = errors.New("it was changed by another call")                  // 412: read it again
	ErrInvalid      = errors.New("refused as invalid")                              // 400, 413, 415, 422: see FieldErrors
	ErrAccess       = errors.New("access refused")                                  // 401 and 403
	ErrUnauthorized = errors.New("the token is missing, wrong, expired or revoked") // 401
	ErrForbidden    = errors.New("the token may not do this")                       // 403
	ErrThrottled    = errors.New("too many requests")                               // 429, after all tries
	ErrUnreachable  = errors.New("the server cannot be reached or is out of order") // no connection, no answer, 408, 502 to 504, 520 to 527
	ErrForeign      = errors.New("the answer is not one of this API")               // the address belongs to something else
	ErrUnknown      = errors.New("it may or may not have happened")                 // a write was sent and its answer was lost
)

// FieldErrors lists every rule that a document breaks; errors.As finds it in the answer to a bad submit.
type FieldErrors = core.FieldErrors

// FieldError names a field and the rule that it breaks.
type FieldError = core.FieldError

// Problem is an error answer: the server's RFC 9457 document, or one made from an answer without it.
type Problem struct {
	Status     int
	Detail     string
	Fields     FieldErrors   // 400, 413, 415, 422: what is wrong with the request
	Reason     string        // 409: why
	JobID      string        // 409: the live job that holds the dedupe key, if that is why
	RetryAfter time.Duration // the wait that the server asks for; zero means none
	Call       string        // method and path, for messages
}

func (p *Problem) Error() string {
	return fmt.Sprintf("%s: %s (HTTP %d)", p.Call, p.Detail, p.Status)
}

// Is matches the sentinels of the status.
func (p *Problem) Is(target error) bool {
	return slices.Contains(sentinels[p.Status], target) || target == ErrUnreachable && p.transient()
}

// transient reports whether the server or a proxy was out of order temporarily, so that a retry may succeed. The statuses
// from 520 to 527 are Cloudflare's for an origin that it cannot reach or understand.
func (p *Problem) transient() bool {
	switch p.Status {
	case http.StatusRequestTimeout, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return 520 <= p.Status && p.Status <= 527
}

// Unwrap lets errors.As find FieldErrors and *FieldError.
func (p *Problem) Unwrap() error { return p.Fields.Err() }

var sentinels = map[int][]error{
	http.StatusBadRequest:            {ErrInvalid},
	http.StatusUnauthorized:          {ErrAccess, ErrUnauthorized},
	http.StatusForbidden:             {ErrAccess, ErrForbidden},
	http.StatusNotFound:              {ErrNotFound},
	http.StatusConflict:              {ErrConflict},
	http.StatusPreconditionFailed:    {ErrChanged},
	http.StatusRequestEntityTooLarge: {ErrInvalid},
	http.StatusUnsupportedMediaType:  {ErrInvalid},
	http.StatusUnprocessableEntity:   {ErrInvalid},
	http.StatusTooManyRequests:       {ErrThrottled},
}

// problemDoc is the document as the API writes it.
type problemDoc struct {
	Detail string `json:"detail"`
	Errors []struct {
		Field string `json:"field"`
		Rule  string `json:"rule"`
	} `json:"errors"`
	Reason string `json:"reason"`
	JobID  string `json:"job_id"`
}

// problemOf makes a Problem from a document.
func problemOf(call string, status int, body []byte) *Problem {
	p := &Problem{Status: status, Call: call}
	var doc problemDoc
	if json.Unmarshal(body, &doc) != nil || doc.Detail == "" {
		switch p.Detail = strings.ToLower(http.StatusText(status)); {
		case p.transient() && p.Detail == "":
			p.Detail = "a proxy could not reach the server"
		case p.Detail == "":
			p.Detail = "no answer of this API"
		case status < 400:
			p.Detail += ", and redirects are not followed: is the address right?"
		}
		return p
	}
	p.Detail, p.Reason, p.JobID = doc.Detail, doc.Reason, doc.JobID
	for _, e := range doc.Errors {
		p.Fields = append(p.Fields, &FieldError{Field: e.Field, Rule: e.Rule})
	}
	return p
}

// connectionError is the error of a try without an answer. Its text contains no headers and no secrets of the address.
type connectionError struct {
	call    string
	err     error
	text    string // of err, for people
	unknown bool   // a write that may have happened
	ended   bool   // the caller's ctx ended: the server's state is unknown
}

func (e *connectionError) Error() string {
	if e.unknown {
		return fmt.Sprintf("%s: %s: %s", e.call, ErrUnknown, e.text)
	}
	return fmt.Sprintf("%s: %s", e.call, e.text)
}

func (e *connectionError) Unwrap() error { return e.err }

func (e *connectionError) Is(target error) bool {
	return target == ErrUnreachable && !e.ended || target == ErrUnknown && e.unknown
}
