package api

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
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
func (a *API) redrive(w http.ResponseWriter, r *http.Request) error {
	if err := a.newParams(r, nil).problem(); err != nil {
		return err
	}
	c, now := redriveCall{limit: defaultDeadLimit}, a.Now()
	d, err := a.readFields(w, r, redriveFields, func(d *decoder, name string, value []byte) { c.set(d, name, value, now) })
	if err != nil {
		return err
	}
	if !c.all && !d.has("type") && !d.has("tenant") && !d.has("ids") && !d.has("error_group") && !d.has("failed_before") {
		d.fault("all", allRule)
	}
	if p := d.problem(); p != nil {
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
	writeJSON(w, http.StatusOK, c.answer(redriven, left))
	return nil
}

func (c *redriveCall) set(d *decoder, name string, value []byte, now time.Time) {
	switch name {
	case "type":
		c.q.Type = d.some(name, value)
		d.check(func(errs *core.FieldErrors) { core.CheckText(errs, name, c.q.Type, core.MaxTypeBytes) })
	case "tenant":
		tenant, _ := d.text(name, value)
		d.check(func(errs *core.FieldErrors) { core.CheckText(errs, name, tenant, core.MaxTenantBytes) })
		c.q.Tenant = &tenant
	case "ids":
		c.q.IDs = d.ids(name, value)
	case "error_group":
		if group, ok := d.text(name, value); ok && !groupForm.MatchString(group) {
			d.fault(name, groupRule)
		} else {
			c.q.Group = group
		}
	case "failed_before":
		c.q.Before = d.instant(name, value, now)
	case "after":
		text, ok := d.text(name, value)
		id, valid := parseID(text)
		if ok && !valid {
			d.fault(name, idRule)
		}
		c.q.After = id
	case "limit":
		c.limit = d.whole(name, value, 1, DeadLimit)
	case "rate":
		c.pace.Every = d.rate(name, value)
	case "from":
		c.pace.From = d.instant(name, value, now)
	case "all":
		c.all = d.flag(name, value)
	case "dry_run":
		c.dry = d.flag(name, value)
	}
}

// Bounds on a rate, in jobs per second. By the lowest, the last of DeadLimit is due 116 days after the first.
const (
	minRate = 0.001
	maxRate = 1_000_000
)

// rate reads jobs per second and returns the time from one to the next.
func (d *decoder) rate(field string, raw []byte) time.Duration {
	perSecond, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') || !(perSecond >= minRate && perSecond <= maxRate) {
		d.fault(field, "must be a number of jobs per second from 0.001 to 1000000")
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
		reason, other := "the job's state does not allow it", ""
		if e := (*core.ConflictError)(nil); errors.As(letter.Err, &e) {
			reason, other = conflictReason(e)
		}
		conflicts = append(comma(conflicts, len(conflicts)-1), `{"id":"`...)
		conflicts = appendField(append(strconv.AppendInt(conflicts, letter.ID, 10), '"'), "reason", reason)
		if other != "" {
			conflicts = appendField(conflicts, "job_id", other)
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
		b = appendTime(b, "next_run_at", next)
	}
	return append(b, '}')
}

// check adds what a check of core finds.
func (d *decoder) check(check func(errs *core.FieldErrors)) {
	var errs core.FieldErrors
	check(&errs)
	d.addFaults(errs.Err())
}

// ids reads an array of ids.
func (d *decoder) ids(field string, raw []byte) []int64 {
	ids := []int64{}
	d.array(field, raw, maxPage, func(field string, value []byte) {
		text, ok := d.text(field, value)
		id, valid := parseID(text)
		if ok && !valid {
			d.fault(field, idRule)
		}
		ids = append(ids, id)
	})
	if len(ids) == 0 && len(d.errs) == 0 {
		d.fault(field, "must have 1 to 1000 elements")
	}
	return ids
}

// flag reads true or false.
func (d *decoder) flag(field string, raw []byte) bool {
	switch string(raw) {
	case "true":
		return true
	case "false":
	default:
		d.fault(field, "must be true or false, not "+kind(raw))
	}
	return false
}
