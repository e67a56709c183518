package deadletters

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// redriveFields are the fields of the body of POST /v1/dead-letters/redrive.
var redriveFields = []string{"type", "tenant", "ids", "error_group", "failed_before", "after", "limit", "rate", "from", "all", "dry_run"}

// redriveCall is what the body asks for.
type redriveCall struct {
	q        core.DeadQuery
	pace     core.Pace
	limit    int
	all, dry bool
}

// redrive answers POST /v1/dead-letters/redrive: those that match are put back, the lowest id first.
func (a *Calls) redrive(w http.ResponseWriter, r *http.Request) error {
	if err := a.NewParams(r, nil).Problem(); err != nil {
		return err
	}
	c, now := redriveCall{limit: defaultDeadLimit}, a.Now()
	d, err := a.ReadFields(w, r, redriveFields, func(d *decode.Decoder, name string, value []byte) { c.set(d, name, value, now) })
	if err != nil {
		return err
	}
	if !c.all && !d.Has("type") && !d.Has("tenant") && !d.Has("ids") && !d.Has("error_group") && !d.Has("failed_before") {
		d.Fault("all", allRule)
	}
	if p := d.Problem(); p != nil {
		return p
	}
	var redriven []core.Redriven
	if !c.dry {
		if redriven, err = a.Jobs.Redrive(r.Context(), c.q, c.limit, c.pace); err != nil {
			return err
		}
	}
	for _, letter := range redriven {
		c.q.After = max(c.q.After, letter.ID)
		if letter.Err == nil {
			a.Poke(letter.ID)
		}
	}
	left, err := a.Jobs.CountDead(r.Context(), c.q)
	if err != nil {
		return err
	}
	answer.JSON(w, http.StatusOK, c.answer(redriven, left))
	return nil
}

func (c *redriveCall) set(d *decode.Decoder, name string, value []byte, now time.Time) {
	switch name {
	case "type":
		c.q.Type = d.Some(name, value)
		check(d, func(errs *core.FieldErrors) { core.CheckText(errs, name, c.q.Type, core.MaxTypeBytes) })
	case "tenant":
		tenant, _ := d.Text(name, value)
		check(d, func(errs *core.FieldErrors) { core.CheckText(errs, name, tenant, core.MaxTenantBytes) })
		c.q.Tenant = &tenant
	case "ids":
		c.q.IDs = ids(d, name, value)
	case "error_group":
		if group, ok := d.Text(name, value); ok && !groupForm.MatchString(group) {
			d.Fault(name, groupRule)
		} else {
			c.q.Group = group
		}
	case "failed_before":
		c.q.Before = d.Instant(name, value, now)
	case "after":
		text, ok := d.Text(name, value)
		id, valid := call.ParseID(text)
		if ok && !valid {
			d.Fault(name, call.IDRule)
		}
		c.q.After = id
	case "limit":
		c.limit = d.Whole(name, value, 1, DeadLimit)
	case "rate":
		c.pace.Every = readRate(d, name, value)
	case "from":
		c.pace.From = d.Instant(name, value, now)
	case "all":
		c.all = d.Flag(name, value)
	case "dry_run":
		c.dry = d.Flag(name, value)
	}
}

// Bounds on a rate, in jobs per second. By the lowest, the last of DeadLimit is due 116 days after the first.
const (
	minRate = 0.001
	maxRate = 1_000_000
)

// readRate reads jobs per second and returns the time from one to the next.
func readRate(d *decode.Decoder, field string, raw []byte) time.Duration {
	perSecond, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') || !(perSecond >= minRate && perSecond <= maxRate) {
		d.Fault(field, "must be a number of jobs per second from 0.001 to 1000000")
		return 0
	}
	return time.Duration(float64(time.Second) / perSecond).Round(time.Microsecond)
}

// answer is the answer's document: what became of each, how many match beyond, and how a following call goes on.
func (c *redriveCall) answer(redriven []core.Redriven, left int) []byte {
	n, conflicts, next := 0, []byte("["), time.Time{}
	for i, letter := range redriven {
		if letter.Err == nil {
			next = letter.RunAt.Add(time.Duration(len(redriven)-i) * c.pace.Every)
			n++
			continue
		}
		reason, other := leftReason(letter.Err)
		conflicts = append(show.Comma(conflicts, len(conflicts)-1), `{"id":"`...)
		conflicts = show.AppendField(append(strconv.AppendInt(conflicts, letter.ID, 10), '"'), "reason", reason)
		if other != "" {
			conflicts = show.AppendField(conflicts, "job_id", other)
		}
		conflicts = append(conflicts, '}')
	}
	if next.IsZero() {
		next = c.pace.From // none was put back: the pace has not begun
	}
	b := strconv.AppendInt([]byte(`{"redriven":`), int64(n), 10)
	b = append(append(append(b, `,"conflicts":`...), conflicts...), ']')
	b = appendRemaining(b, left, c.dry)
	if c.q.After > 0 {
		b = append(strconv.AppendInt(append(b, `,"after":"`...), c.q.After, 10), '"')
	}
	if c.pace.Every > 0 {
		b = show.AppendTime(b, "next_run_at", next)
	}
	return append(b, '}')
}

// leftReason says why a dead letter was left.
func leftReason(err error) (reason, jobID string) {
	var conflict *core.ConflictError
	switch {
	case errors.As(err, &conflict):
		return answer.ConflictReason(conflict)
	case errors.Is(err, core.ErrBusy):
		return "an open transaction holds the dedupe key", ""
	}
	return "the row raises an error, which belfry doctor names; repair the row, or discard the dead letter", ""
}

// check adds what a check of core finds.
func check(d *decode.Decoder, check func(errs *core.FieldErrors)) {
	var errs core.FieldErrors
	check(&errs)
	d.AddFaults(errs.Err())
}

// ids reads an array of ids.
func ids(d *decode.Decoder, field string, raw []byte) []int64 {
	ids := []int64{}
	d.Array(field, raw, call.MaxPage, func(field string, value []byte) {
		text, ok := d.Text(field, value)
		id, valid := call.ParseID(text)
		if ok && !valid {
			d.Fault(field, call.IDRule)
		}
		ids = append(ids, id)
	})
	if len(ids) == 0 && len(d.Errs) == 0 {
		d.Fault(field, "must have 1 to 1000 elements")
	}
	return ids
}
