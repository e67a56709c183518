package api

import (
	"net/http"
	"regexp"
	"strconv"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/show"
)

const (
	defaultDeadLimit = 1000
	maxGroups        = 1000
	defaultGroups    = 100
)

// listDead answers GET /v1/dead-letters.
func (a *API) listDead(w http.ResponseWriter, r *http.Request) error {
	p := a.newParams(r, []string{"type", "tenant", "error_group", "failed_before", "limit", "cursor"})
	q := core.ListQuery{
		Statuses: []core.Status{core.Failed}, Type: p.text("type", core.MaxTypeBytes), Tenant: p.tenant(),
		Group: p.errorGroup(), FailedBefore: p.instant("failed_before"),
	}
	return a.page(w, r, p, "dead-letters", q)
}

// deadGroups answers GET /v1/dead-letters/groups.
func (a *API) deadGroups(w http.ResponseWriter, r *http.Request) error {
	p := a.newParams(r, []string{"type", "tenant", "error_group", "failed_before", "limit"})
	q, limit := p.deadQuery(), p.whole("limit", 1, maxGroups, defaultGroups)
	if err := p.problem(); err != nil {
		return err
	}
	groups, err := a.Jobs.DeadGroups(r.Context(), q, limit)
	if err != nil {
		return err
	}
	b, counted := []byte(`{"items":[`), 0
	for i, g := range groups {
		b = show.AppendField(append(show.Comma(b, i), `{"count":`+strconv.Itoa(g.Count)...), "type", g.Type)
		b = show.AppendField(show.AppendField(b, "error_group", g.Group), "error", g.Error)
		b = append(show.AppendTime(show.AppendTime(b, "first_failed_at", g.First), "last_failed_at", g.Last), '}')
		counted += g.Count
	}
	b = append(b, `],"capped":`...)
	writeJSON(w, http.StatusOK, append(strconv.AppendBool(b, counted >= core.CountCap), '}'))
	return nil
}

// discard answers DELETE /v1/dead-letters: those that match are gone for good.
func (a *API) discard(w http.ResponseWriter, r *http.Request) error {
	p := a.newParams(r, []string{"type", "tenant", "error_group", "failed_before", "limit", "after", "all", "dry_run"}, "id")
	q := p.deadQuery()
	q.After = p.id("after")
	q.IDs = p.ids("id", maxPage)
	limit, all, dry := p.whole("limit", 1, DeadLimit, defaultDeadLimit), p.flag("all"), p.flag("dry_run")
	if !names(q) && !all {
		p.errs.Add("all", allRule)
	}
	if err := p.problem(); err != nil {
		return err
	}
	gone, err := core.Discarded{}, error(nil)
	if !dry {
		if gone, err = a.Jobs.Discard(r.Context(), q, limit); err != nil {
			return err
		}
	}
	q.After = max(q.After, gone.After)
	remaining, err := a.Jobs.CountDead(r.Context(), q)
	if err != nil {
		return err
	}
	b := strconv.AppendInt([]byte(`{"discarded":`), int64(gone.N), 10)
	b = append(b, `,"left":[`...)
	for i, id := range gone.Left {
		b = append(strconv.AppendInt(append(show.Comma(b, i), '"'), id, 10), '"')
	}
	b = appendRemaining(append(b, ']'), remaining, dry)
	if q.After > 0 {
		b = show.AppendField(b, "after", strconv.FormatInt(q.After, 10))
	}
	writeJSON(w, http.StatusOK, append(b, '}'))
	return nil
}

// allRule is why a call without a filter is refused.
const allRule = "must be true where nothing else says which dead letters are meant"

// names reports whether anything says which dead letters are meant.
func names(q core.DeadQuery) bool {
	return q.Type != "" || q.Tenant != nil || len(q.IDs) > 0 || q.Group != "" || !q.Before.IsZero()
}

// deadQuery reads the filters of calls about dead letters.
func (p *params) deadQuery() core.DeadQuery {
	return core.DeadQuery{Type: p.text("type", core.MaxTypeBytes), Tenant: p.tenant(), Group: p.errorGroup(), Before: p.instant("failed_before")}
}

// groupPattern is what an error group looks like.
const groupPattern = "^[0-9a-f]{16}$"

var groupForm = regexp.MustCompile(groupPattern)

const groupRule = "must be the error_group of a group of dead letters: 16 digits of 0-9 and a-f"

func (p *params) errorGroup() string {
	if !p.values.Has("error_group") {
		return ""
	}
	group := p.values.Get("error_group")
	if !groupForm.MatchString(group) {
		p.errs.Add("error_group", groupRule)
	}
	return group
}

// appendRemaining appends how many match still, and whether nothing was done.
func appendRemaining(b []byte, n int, dry bool) []byte {
	b = strconv.AppendInt(append(b, `,"remaining":`...), int64(n), 10)
	b = strconv.AppendBool(append(b, `,"capped":`...), n >= core.CountCap)
	if dry {
		b = append(b, `,"dry_run":true`...)
	}
	return b
}
