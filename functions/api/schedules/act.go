package schedules

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// pauseSchedule answers POST /v1/schedules/{name}/pause.
func (a *Calls) pauseSchedule(w http.ResponseWriter, r *http.Request) error {
	return a.turnSchedule(w, r, a.Schedules.Pause)
}

// resumeSchedule answers POST /v1/schedules/{name}/resume.
func (a *Calls) resumeSchedule(w http.ResponseWriter, r *http.Request) error {
	return a.turnSchedule(w, r, a.Schedules.Resume)
}

func (a *Calls) turnSchedule(w http.ResponseWriter, r *http.Request, act func(ctx context.Context, tenant, name string) (core.Schedule, error)) error {
	tenant, name, err := a.scheduleChange(w, r, nil, nil)
	if err != nil {
		return err
	}
	s, err := act(r.Context(), tenant, name)
	if err != nil {
		return scheduleFault(err)
	}
	return a.showSchedule(w, http.StatusOK, &s)
}

// scheduleChange reads a path, the parameter tenant and an optional body of the given fields.
func (a *Calls) scheduleChange(w http.ResponseWriter, r *http.Request, fields []string, set func(d *decode.Decoder, name string, value []byte)) (tenant, name string, err error) {
	if tenant, name, err = a.scheduleOf(a.NewParams(r, []string{"tenant"}), r); err != nil {
		return "", "", err
	}
	d, err := a.ReadFields(w, r, fields, set)
	if err != nil {
		return "", "", err
	}
	if p := d.Problem(); p != nil {
		return "", "", p
	}
	return tenant, name, nil
}

// triggerSchedule answers POST /v1/schedules/{name}/trigger with the job it made.
func (a *Calls) triggerSchedule(w http.ResponseWriter, r *http.Request) error {
	tenant, name, err := a.scheduleChange(w, r, nil, nil)
	if err != nil {
		return err
	}
	id, err := a.Schedules.Trigger(r.Context(), tenant, name)
	if err != nil {
		return scheduleFault(err)
	}
	a.Poke(id)
	job, err := a.Jobs.Get(r.Context(), id)
	if err != nil {
		return err
	}
	w.Header().Set("Location", call.PrefixOf(r)+"/v1/jobs/"+strconv.FormatInt(id, 10))
	answer.JSON(w, http.StatusCreated, show.AppendJob(nil, &job, false))
	return nil
}

// backfillSchedule answers POST /v1/schedules/{name}/backfill.
func (a *Calls) backfillSchedule(w http.ResponseWriter, r *http.Request) error {
	var from, to time.Time
	dry := false
	d := &decode.Decoder{}
	tenant, name, err := a.scheduleChange(w, r, []string{"from", "to", "dry_run"}, func(read *decode.Decoder, field string, value []byte) {
		d = read
		switch field {
		case "from":
			from = d.Instant(field, value, a.Now())
		case "to":
			to = d.Instant(field, value, a.Now())
		case "dry_run":
			dry = d.Flag(field, value)
		}
	})
	if err != nil {
		return err
	}
	switch {
	case from.IsZero() || !d.Has("from"):
		d.Fault("from", "is required: the first instant that may be made up")
	case to.IsZero() || !d.Has("to"):
		d.Fault("to", "is required: runs are made for instants before it")
	case !to.After(from):
		d.Fault("to", "must be later than from")
	}
	if p := d.Problem(); p != nil {
		return p
	}
	done, err := a.Schedules.Backfill(r.Context(), tenant, name, from, to, dry)
	if err != nil {
		return scheduleFault(err)
	}
	b := strconv.AppendInt([]byte(`{"count":`), done.Count, 10)
	b = strconv.AppendInt(append(b, `,"made":`...), int64(len(done.Made)), 10)
	b = strconv.AppendBool(append(b, `,"dry_run":`...), dry)
	b = append(b, `,"job_ids":[`...)
	for i, id := range done.Made {
		a.Poke(id)
		b = show.AppendString(show.Comma(b, i), strconv.FormatInt(id, 10))
	}
	b = show.AppendTime(append(b, ']'), "next_from", done.Next)
	answer.JSON(w, http.StatusOK, append(b, '}'))
	return nil
}
