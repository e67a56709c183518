package api

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/belfry-dev/belfry/core"
)

const defaultDeadLimit = 1000

// listDead answers GET /v1/dead-letters.
func (a *API) listDead(w http.ResponseWriter, r *http.Request) error {
	p := a.newParams(r, []string{"type", "tenant", "limit", "cursor"})
	q := core.ListQuery{Statuses: []core.Status{core.Failed}, Type: p.text("type", core.MaxTypeBytes), Tenant: p.tenant()}
	return a.page(w, r, p, "dead-letters", q)
}

// redrive answers POST /v1/dead-letters/redrive: those that match are put back, oldest first.
func (a *API) redrive(w http.ResponseWriter, r *http.Request) error {
	if err := a.newParams(r, nil).problem(); err != nil {
		return err
	}
	var q core.DeadQuery
	limit, all := defaultDeadLimit, false
	d, err := a.readFields(w, r, []string{"type", "tenant", "ids", "limit", "all"}, func(d *decoder, name string, value []byte) {
		switch name {
		case "type":
			q.Type = d.some(name, value)
			d.check(func(errs *core.FieldErrors) { core.CheckText(errs, name, q.Type, core.MaxTypeBytes) })
		case "tenant":
			tenant, _ := d.text(name, value)
			d.check(func(errs *core.FieldErrors) { core.CheckText(errs, name, tenant, core.MaxTenantBytes) })
			q.Tenant = &tenant
		case "ids":
			q.IDs = d.ids(name, value)
		case "limit":
			limit = d.whole(name, value, 1, DeadLimit)
		case "all":
			all = d.flag(name, value)
		}
	})
	if err != nil {
		return err
	}
	if !d.has("type") && !d.has("tenant") && !d.has("ids") && !all {
		d.fault("all", allRule)
	}
	if p := d.problem(); p != nil {
		return p
	}
	redriven, err := a.Jobs.Redrive(r.Context(), q, limit, core.Pace{})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.redriveAnswer(redriven))
	return nil
}

// allRule is why a call without a filter is refused.
const allRule = "must be true where nothing else says which dead letters are meant"

// redriveAnswer is {"redriven": n, "conflicts": [...]}.
func (a *API) redriveAnswer(redriven []core.Redriven) []byte {
	n, conflicts := 0, []byte("[")
	for _, letter := range redriven {
		if letter.Err == nil {
			a.Poke(letter.ID)
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
	b := strconv.AppendInt([]byte(`{"redriven":`), int64(n), 10)
	b = append(append(b, `,"conflicts":`...), conflicts...)
	return append(b, "]}"...)
}

// discard answers DELETE /v1/dead-letters: those that match are gone for good.
func (a *API) discard(w http.ResponseWriter, r *http.Request) error {
	p := a.newParams(r, []string{"type", "tenant", "failed_before", "limit", "all"}, "id")
	q := core.DeadQuery{
		Type: p.text("type", core.MaxTypeBytes), Tenant: p.tenant(), IDs: p.ids("id", maxPage), Before: p.instant("failed_before"),
	}
	limit, all := p.whole("limit", 1, DeadLimit, defaultDeadLimit), p.flag("all")
	if q.Type == "" && q.Tenant == nil && len(q.IDs) == 0 && q.Before.IsZero() && !all {
		p.errs.Add("all", allRule)
	}
	if err := p.problem(); err != nil {
		return err
	}
	n, err := a.Jobs.Discard(r.Context(), q, limit)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, append(strconv.AppendInt([]byte(`{"discarded":`), int64(n), 10), '}'))
	return nil
}

// check adds what a check of core finds.
func (d *decoder) check(check func(errs *core.FieldErrors)) {
	var errs core.FieldErrors
	check(&errs)
	d.blame(errs.Err())
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
