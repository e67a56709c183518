package api

import (
	"net/http"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// cancel answers POST /v1/jobs/{id}/cancel: 200 where the job is cancelled and will never start, 202 where it
// runs and its worker is told by the next heartbeat.
func (a *API) cancel(w http.ResponseWriter, r *http.Request) error {
	id, err := a.emptyChange(w, r)
	if err != nil {
		return err
	}
	job, err := a.Jobs.Cancel(r.Context(), id)
	if err != nil {
		return a.rowFault(r.Context(), id, "cancelled", "wait until it ends", err)
	}
	status := http.StatusOK
	if job.Status == core.Running {
		status = http.StatusAccepted
	} else {
		a.wait.wake([]int64{id})
	}
	writeJSON(w, status, show.AppendJob(nil, &job, false))
	return nil
}

// retry answers POST /v1/jobs/{id}/retry.
func (a *API) retry(w http.ResponseWriter, r *http.Request) error {
	id, err := a.emptyChange(w, r)
	if err != nil {
		return err
	}
	job, err := a.Jobs.Retry(r.Context(), id)
	if err != nil {
		return a.rowFault(r.Context(), id, "retried", "discard it", err)
	}
	a.Poke(id)
	writeJSON(w, http.StatusOK, show.AppendJob(nil, &job, false))
	return nil
}

// emptyChange reads a request that says all in its path. A body may be left out or be {}.
func (a *API) emptyChange(w http.ResponseWriter, r *http.Request) (int64, error) {
	id, d, err := a.change(w, r, nil, nil)
	if err != nil {
		return 0, err
	}
	if p := d.Problem(); p != nil {
		return 0, p
	}
	return id, nil
}

// reschedule answers POST /v1/jobs/{id}/reschedule, which takes run_at or delay.
func (a *API) reschedule(w http.ResponseWriter, r *http.Request) error {
	var when core.When
	now := a.Now()
	var d *decode.Decoder
	id, d, err := a.change(w, r, []string{"run_at", "delay"}, func(d *decode.Decoder, name string, value []byte) {
		switch name {
		case "run_at":
			when.At = d.Instant(name, value, now)
		case "delay":
			delay, ok := d.Duration(name, value)
			if delay, fault := core.CheckDelay(name, delay); ok && fault != nil {
				d.Fault(name, fault.Rule)
			} else {
				when.Delay = delay
			}
		}
	})
	if err != nil {
		return err
	}
	switch at, delay := d.Has("run_at"), d.Has("delay"); {
	case at && delay:
		d.Fault("run_at", "set run_at or delay, not both")
	case !at && !delay:
		d.Fault("run_at", "is required, or delay")
	}
	if p := d.Problem(); p != nil {
		return p
	}
	job, err := a.Jobs.Reschedule(r.Context(), id, when)
	if err != nil {
		return a.rowFault(r.Context(), id, "rescheduled", "cancel it", err)
	}
	a.Poke(id)
	writeJSON(w, http.StatusOK, show.AppendJob(nil, &job, false))
	return nil
}

// change reads the id, a query that must be empty, and an optional body of the given fields.
func (a *API) change(w http.ResponseWriter, r *http.Request, fields []string, set func(d *decode.Decoder, name string, value []byte)) (int64, *decode.Decoder, error) {
	id, err := pathID(r)
	if err != nil {
		return 0, nil, err
	}
	if err := a.newParams(r, nil).problem(); err != nil {
		return 0, nil, err
	}
	d, err := a.readFields(w, r, fields, set)
	return id, d, err
}

// readFields reads an optional body of the given fields.
func (a *API) readFields(w http.ResponseWriter, r *http.Request, fields []string, set func(d *decode.Decoder, name string, value []byte)) (*decode.Decoder, error) {
	d := &decode.Decoder{}
	body, err := a.readOptional(w, r)
	if err != nil || body == nil {
		return d, err
	}
	raw, err := decode.Parse(body)
	if err != nil {
		return nil, err
	}
	d.Object(raw, fields, func(name string, value []byte) { set(d, name, value) })
	return d, nil
}
