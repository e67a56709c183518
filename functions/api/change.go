package api

import (
	"net/http"

	"github.com/belfry-dev/belfry/core"
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
		return err
	}
	status := http.StatusOK
	if job.Status == core.Running {
		status = http.StatusAccepted
	} else {
		a.wait.wake([]int64{id})
	}
	writeJSON(w, status, appendJob(nil, &job, false))
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
		return err
	}
	a.Poke(id)
	writeJSON(w, http.StatusOK, appendJob(nil, &job, false))
	return nil
}

// emptyChange reads a request that says all in its path. A body may be left out or be {}.
func (a *API) emptyChange(w http.ResponseWriter, r *http.Request) (int64, error) {
	id, d, err := a.change(w, r, nil, nil)
	if err != nil {
		return 0, err
	}
	if p := d.problem(); p != nil {
		return 0, p
	}
	return id, nil
}

// reschedule answers POST /v1/jobs/{id}/reschedule, which takes run_at or delay.
func (a *API) reschedule(w http.ResponseWriter, r *http.Request) error {
	var when core.When
	now := a.Now()
	var d *decoder
	id, d, err := a.change(w, r, []string{"run_at", "delay"}, func(d *decoder, name string, value []byte) {
		switch name {
		case "run_at":
			when.At = d.instant(name, value, now)
		case "delay":
			delay, ok := d.duration(name, value)
			if delay, fault := core.CheckDelay(name, delay); ok && fault != nil {
				d.fault(name, fault.Rule)
			} else {
				when.Delay = delay
			}
		}
	})
	if err != nil {
		return err
	}
	if d.has("run_at") == d.has("delay") {
		d.fault("run_at", "set run_at or delay, not both")
	}
	if p := d.problem(); p != nil {
		return p
	}
	job, err := a.Jobs.Reschedule(r.Context(), id, when)
	if err != nil {
		return err
	}
	a.Poke(id)
	writeJSON(w, http.StatusOK, appendJob(nil, &job, false))
	return nil
}

// change reads the id, a query that must be empty, and an optional body of the given fields.
func (a *API) change(w http.ResponseWriter, r *http.Request, fields []string, set func(d *decoder, name string, value []byte)) (int64, *decoder, error) {
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
func (a *API) readFields(w http.ResponseWriter, r *http.Request, fields []string, set func(d *decoder, name string, value []byte)) (*decoder, error) {
	d := &decoder{}
	body, err := a.readOptional(w, r)
	if err != nil || body == nil {
		return d, err
	}
	raw, err := parse(body)
	if err != nil {
		return nil, err
	}
	d.object(raw, fields, func(name string, value []byte) { set(d, name, value) })
	return d, nil
}
