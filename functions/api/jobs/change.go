package jobs

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// cancel answers POST /v1/jobs/{id}/cancel: 200 where the job is cancelled and will never start, 202 where it
// runs and its worker is told by the next heartbeat.
func (a *Calls) cancel(w http.ResponseWriter, r *http.Request) error {
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
		a.Wait.Wake([]int64{id})
	}
	answer.JSON(w, status, show.AppendJob(nil, &job, false))
	return nil
}

// retry answers POST /v1/jobs/{id}/retry.
func (a *Calls) retry(w http.ResponseWriter, r *http.Request) error {
	id, err := a.emptyChange(w, r)
	if err != nil {
		return err
	}
	job, err := a.Jobs.Retry(r.Context(), id)
	if err != nil {
		return a.rowFault(r.Context(), id, "retried", "discard it", err)
	}
	a.Poke(id)
	answer.JSON(w, http.StatusOK, show.AppendJob(nil, &job, false))
	return nil
}

// emptyChange reads a request that says all in its path. A body may be left out or be {}.
func (a *Calls) emptyChange(w http.ResponseWriter, r *http.Request) (int64, error) {
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
func (a *Calls) reschedule(w http.ResponseWriter, r *http.Request) error {
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
	answer.JSON(w, http.StatusOK, show.AppendJob(nil, &job, false))
	return nil
}

// change reads the id, a query that must be empty, and an optional body of the given fields.
func (a *Calls) change(w http.ResponseWriter, r *http.Request, fields []string, set func(d *decode.Decoder, name string, value []byte)) (int64, *decode.Decoder, error) {
	id, err := call.PathID(r)
	if err != nil {
		return 0, nil, err
	}
	if err := a.NewParams(r, nil).Problem(); err != nil {
		return 0, nil, err
	}
	d, err := a.ReadFields(w, r, fields, set)
	return id, d, err
}

// reasonUnreadable is the reason of a conflict with a job of which the store cannot read a value any more.
const reasonUnreadable = "a value of the job cannot be read"

// rowFault explains an error that one job's own row raised in a change of that job: done says what cannot be done, as a
// participle, instead what can be. It returns other errors as they are.
func (a *Calls) rowFault(ctx context.Context, id int64, done, instead string, err error) error {
	if !errors.Is(err, core.ErrRow) {
		return err
	}
	if job, failed := a.Jobs.Get(ctx, id); failed == nil && job.Unreadable != "" {
		p := problem.New(http.StatusConflict, fmt.Sprintf("job %d cannot be %s, because a value of it cannot be read any more (%s); %s, or repair its row", id, done, job.Unreadable, instead))
		p.Reason = reasonUnreadable
		return answer.Explained(p, err)
	}
	return answer.Explained(problem.New(http.StatusInternalServerError, fmt.Sprintf("job %d cannot be %s, because its row raises an error; "+
		"the server log has the error. Repair the row, or remove the trigger or constraint that refuses it", id, done)), err)
}
