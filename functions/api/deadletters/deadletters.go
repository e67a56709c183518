// Package deadletters is the calls about dead letters: jobs that failed for good.
package deadletters

import (
	"net/http"
	"regexp"
	"strconv"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/jobs"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// Calls are the calls about dead letters, which are jobs.
type Calls struct{ *jobs.Calls }

// New makes them.
func New(jobs *jobs.Calls) *Calls { return &Calls{jobs} }

const (
	defaultDeadLimit = 1000
	maxGroups        = 1000
	defaultGroups    = 100
)

// listDead answers GET /v1/dead-letters.
func (a *Calls) listDead(w http.ResponseWriter, r *http.Request) error {
	p := a.NewParams(r, []string{"type", "tenant", "error_group", "failed_before", "limit", "cursor"})
	q := core.ListQuery{
		Statuses: []core.Status{core.Failed}, Type: p.Text("type", core.MaxTypeBytes), Tenant: p.Tenant(),
		Group: errorGroup(p), FailedBefore: p.Instant("failed_before"),
	}
	return a.Page(w, r, p, "dead-letters", q)
}

// deadGroups answers GET /v1/dead-letters/groups.
func (a *Calls) deadGroups(w http.ResponseWriter, r *http.Request) error {
	p := a.NewParams(r, []string{"type", "tenant", "error_group", "failed_before", "limit"})
	q, limit := deadQuery(p), p.Whole("limit", 1, maxGroups, defaultGroups)
	if err := p.Problem(); err != nil {
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
	answer.JSON(w, http.StatusOK, append(strconv.AppendBool(b, counted >= core.CountCap), '}'))
	return nil
}

// discard answers DELETE /v1/dead-letters: those that match are gone for good.
func (a *Calls) discard(w http.ResponseWriter, r *http.Request) error {
	p := a.NewParams(r, []string{"type", "tenant", "error_group", "failed_before", "limit", "after", "all", "dry_run"}, "id")
	q := deadQuery(p)
	q.After = p.ID("after")
	q.IDs = p.IDs("id", call.MaxPage)
	limit, all, dry := p.Whole("limit", 1, DeadLimit, defaultDeadLimit), p.Flag("all"), p.Flag("dry_run")
	if !names(q) && !all {
		p.Errs.Add("all", allRule)
	}
	if err := p.Problem(); err != nil {
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
	answer.JSON(w, http.StatusOK, append(b, '}'))
	return nil
}

// allRule is why a call without a filter is refused.
const allRule = "must be true where nothing else says which dead letters are meant"

// names reports whether anything says which dead letters are meant.
func names(q core.DeadQuery) bool {
	return q.Type != "" || q.Tenant != nil || len(q.IDs) > 0 || q.Group != "" || !q.Before.IsZero()
}

// deadQuery reads the filters of calls about dead letters.
func deadQuery(p *call.Params) core.DeadQuery {
	return core.DeadQuery{Type: p.Text("type", core.MaxTypeBytes), Tenant: p.Tenant(), Group: errorGroup(p), Before: p.Instant("failed_before")}
}

// groupPattern is what an error group looks like.
const groupPattern = "^[0-9a-f]{16}$"

var groupForm = regexp.MustCompile(groupPattern)

const groupRule = "must be the error_group of a group of dead letters: 16 digits of 0-9 and a-f"

func errorGroup(p *call.Params) string {
	if !p.Values.Has("error_group") {
		return ""
	}
	group := p.Values.Get("error_group")
	if !groupForm.MatchString(group) {
		p.Errs.Add("error_group", groupRule)
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

// DeadLimit is the most dead letters one redrive or discard takes.
const DeadLimit = 10_000
