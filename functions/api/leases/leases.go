// Package leases is the calls of targets that report on their attempts, with the lease tokens that their deliveries carried.
package leases

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// Calls are the calls of targets that report on their attempts.
type Calls struct{ *call.Base }

// New makes them.
func New(b *call.Base) *Calls { return &Calls{b} }

// leaseBody bounds the body of a call by lease token: anyone may send one.
const leaseBody = core.MaxResultBytes + 64<<10

const leaseRule = "must be the belfry-lease-token of an attempt of this job"

// heartbeat answers POST /v1/jobs/{id}/heartbeat.
func (a *Calls) heartbeat(w http.ResponseWriter, r *http.Request) error {
	ref, err := a.leased(w, r, leaseCall{})
	if err != nil {
		return err
	}
	extended, err := a.Attempts.Heartbeat(r.Context(), ref)
	if err != nil {
		return leaseError(err)
	}
	b := show.AppendTime(append(strconv.AppendInt([]byte(`{"id":"`), ref.ID, 10), '"'), "lease_until", extended.LeaseUntil)
	b = strconv.AppendBool(append(b, `,"cancel_wanted":`...), extended.CancelWanted)
	answer.JSON(w, http.StatusOK, append(b, '}'))
	return nil
}

// complete answers POST /v1/jobs/{id}/complete.
func (a *Calls) complete(w http.ResponseWriter, r *http.Request) error {
	var result json.RawMessage
	ref, err := a.leased(w, r, leaseCall{fields: []string{"result"}, set: func(d *decode.Decoder, name string, value []byte) {
		result = value
		if d.Large = len(value) > core.MaxResultBytes; d.Large {
			d.Fault(name, "is too large, at most "+strconv.Itoa(core.MaxResultBytes)+" bytes are kept")
		}
	}})
	if err != nil {
		return err
	}
	status, err := a.Attempts.Complete(r.Context(), ref, result)
	return a.ended(w, ref, status, err)
}

// fail answers POST /v1/jobs/{id}/fail.
func (a *Calls) fail(w http.ResponseWriter, r *http.Request) error {
	var f failure
	ref, err := a.leased(w, r, leaseCall{fields: []string{"error", "permanent", "retry_after"}, set: f.field, check: f.check})
	if err != nil {
		return err
	}
	status, err := a.Attempts.Fail(r.Context(), ref, f.fault())
	return a.ended(w, ref, status, err)
}

// failure is what a target says of its failed attempt.
type failure struct {
	text      string
	permanent bool
	asked     bool // retry_after stands
	wait      time.Duration
}

func (f *failure) field(d *decode.Decoder, name string, value []byte) {
	switch name {
	case "error":
		f.text = d.Some(name, value)
	case "permanent":
		f.permanent = d.Flag(name, value)
	case "retry_after":
		if f.wait, f.asked = d.Duration(name, value); f.asked && (f.wait < 0 || f.wait > core.MaxBackoffWait) {
			d.Fault(name, "must lie between 0s and 720h (30 days)")
		}
	}
}

func (f *failure) check(d *decode.Decoder) {
	if !d.Has("error") {
		d.Fault("error", "is required")
	}
	if f.permanent && f.asked {
		d.Fault("retry_after", "must not be set with permanent: a job that failed for good is not retried")
	}
}

// fault is the failure as a handler would return it.
func (f *failure) fault() error {
	switch err := errors.New(f.text); {
	case f.permanent:
		return core.Permanent(err)
	case f.asked:
		return core.RetryAfter(err, f.wait)
	default:
		return err
	}
}

// ended answers with what the job is after the end of its attempt.
func (a *Calls) ended(w http.ResponseWriter, ref core.Ref, status core.Status, err error) error {
	if err != nil {
		return leaseError(err)
	}
	if status.Ended() {
		a.Wait.Wake([]int64{ref.ID})
	}
	b := append(strconv.AppendInt([]byte(`{"id":"`), ref.ID, 10), '"')
	answer.JSON(w, http.StatusOK, append(show.AppendField(b, "status", status.String()), '}'))
	return nil
}

// leaseCall is what a call takes beside its lease token.
type leaseCall struct {
	fields []string
	set    func(d *decode.Decoder, name string, value []byte)
	check  func(d *decode.Decoder) // nil means that nothing is required
}

// leased reads a call by lease token: the job in the path, and the token in the body, which must be this job's. The
// token is the right to the call, whoever sends it; without it nothing is looked up.
func (a *Calls) leased(w http.ResponseWriter, r *http.Request, asked leaseCall) (core.Ref, error) {
	id, err := call.PathID(r)
	if err != nil {
		return core.Ref{}, err
	}
	if err := a.NewParams(r, nil).Problem(); err != nil {
		return core.Ref{}, err
	}
	body, err := a.ReadBody(w, r, leaseBody)
	if err != nil {
		return core.Ref{}, err
	}
	raw, err := decode.Parse(body)
	if err != nil {
		return core.Ref{}, err
	}
	d, token := &decode.Decoder{}, ""
	d.Object(raw, append([]string{"lease_token"}, asked.fields...), func(name string, value []byte) {
		if name == "lease_token" {
			token = d.Some(name, value)
		} else {
			asked.set(d, name, value)
		}
	})
	if !d.Has("lease_token") {
		d.Fault("lease_token", "is required; it "+leaseRule)
	}
	if asked.check != nil {
		asked.check(d)
	}
	if p := d.Problem(); p != nil {
		return core.Ref{}, p
	}
	ref, err := a.Leases.Open(r.Context(), token)
	if err != nil {
		return core.Ref{}, problem.Field(http.StatusUnprocessableEntity, "lease_token", leaseRule)
	}
	if ref.ID != id {
		return core.Ref{}, problem.Field(http.StatusNotFound, "lease_token", leaseRule)
	}
	return ref, nil
}

// leaseError words what a lease token cannot do any more.
func leaseError(err error) error {
	if !errors.Is(err, core.ErrStale) {
		return err
	}
	p := problem.New(http.StatusConflict, "the lease token is no longer current: its attempt has ended, and nothing was changed")
	p.Reason = "the lease token is stale"
	return p
}
