package postgres

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// listWindow is how many rows one call of List looks at, with any filter. If each row is on a page of its own, it touches
// this many pages, and a few for each table.
const listWindow = 10_000

// List returns jobs newest id first; see core.JobStore.
func (s *Store) List(ctx context.Context, q core.ListQuery) (core.Page, error) {
	page, err := s.list(ctx, "", q)
	if errors.Is(err, core.ErrRow) {
		return s.listUnread(ctx, q)
	}
	return page, err
}

// unreadStep is how many rows listUnread reads at a time.
const unreadStep = 50

// listUnread is List if a value of a row cannot be read. It finds the jobs without their large values, and then reads these
// values, job by job if one raises an error.
func (s *Store) listUnread(ctx context.Context, q core.ListQuery) (core.Page, error) {
	found, err := s.list(ctx, unreadSuffix, q)
	if err != nil {
		return core.Page{}, err
	}
	page, size := core.Page{Next: found.Next}, 0
	for part := range slices.Chunk(found.Jobs, unreadStep) {
		ids := make([]int64, len(part))
		for i := range part {
			ids[i] = part[i].ID
		}
		jobs, err := s.getEach(ctx, ids)
		if err != nil {
			return core.Page{}, err
		}
		slices.SortFunc(jobs, func(a, b core.Job) int { return cmp.Compare(b.ID, a.ID) })
		for i := range jobs {
			size += jobs[i].Size()
			page.Jobs = append(page.Jobs, jobs[i])
			if q.Bytes > 0 && size >= q.Bytes {
				page.Next = jobs[i].ID
				return page, nil
			}
		}
	}
	return page, nil
}

// list is List with the variant of the statements that suffix names.
func (s *Store) list(ctx context.Context, suffix string, q core.ListQuery) (core.Page, error) {
	tables := listTables(q)
	if tables == 0 || q.Limit <= 0 {
		return core.Page{}, nil
	}
	if q.Before <= 0 {
		q.Before = math.MaxInt64
	}
	if inFlight(q) {
		if page, whole, err := s.listRows(ctx, "list_in_flight"+suffix, q); err != nil || whole {
			return page, err
		}
	}
	page, _, err := s.listRows(ctx, listName(tables, listWay(q, tables))+suffix, q)
	return page, err
}

// listRows sends one form of list. whole is false if there are too many rows in flight for this form.
func (s *Store) listRows(ctx context.Context, name string, q core.ListQuery) (page core.Page, whole bool, err error) {
	whole = true
	size, full := 0, false
	err = s.read(ctx, "list", s.guard(glanceWait), s.sql.call(name, listArgs(q, s.window()), func(r wire.Row) error {
		last := r.Bool(jobWidth + 1)
		if last && strings.HasPrefix(name, "list_in_flight") {
			whole = false
		}
		if full {
			return nil
		}
		if r.Bool(jobWidth) {
			j := job(r)
			size += j.Size()
			page.Jobs = append(page.Jobs, j)
			full = q.Bytes > 0 && size >= q.Bytes
		}
		if last || full || len(page.Jobs) == q.Limit {
			page.Next = r.Int(colID)
		}
		return nil
	}))
	return page, whole, err
}

// window is listWindow, or a test's own.
func (s *Store) window() int64 {
	if s.listWindow > 0 {
		return s.listWindow
	}
	return listWindow
}

func listArgs(q core.ListQuery, window int64) *wire.Args {
	a := wire.NewArgs(13).Int8(int64(q.Limit)).Int8(window).Int8(q.Before)
	wire.Int2s(a, q.Statuses, func(st *core.Status) int16 { return int16(*st) })
	return a.Text(q.Type).TextOrNull(q.Tenant).Int2(int16(q.Priority)).Text(q.Tag).Time(q.RunAfter).Time(q.RunBefore).
		Text(q.Group).Time(q.FailedBefore).Text(q.Schedule)
}

// listTables returns the tables that can hold the requested statuses.
func listTables(q core.ListQuery) (tables int) {
	if len(q.Statuses) == 0 {
		tables = listLive | listDead | listHistory
	}
	for _, status := range q.Statuses {
		switch {
		case status.Live():
			tables |= listLive
		case status == core.Failed:
			tables |= listDead
		case status == core.Done, status == core.Cancelled:
			tables |= listHistory
		}
	}
	if q.Group != "" || !q.FailedBefore.IsZero() {
		tables &= listDead
	}
	return tables
}

// listWay returns the form that reads the fewest other rows.
func listWay(q core.ListQuery, tables int) way {
	switch {
	case tables == listDead && q.Group != "":
		return byGroup
	case q.Tenant != nil && *q.Tenant != "":
		return byTenant
	case tables == listDead && q.Type != "":
		return byType
	}
	return byID
}

// inFlight reports whether the query is for queued and running jobs only.
func inFlight(q core.ListQuery) bool {
	for _, status := range q.Statuses {
		if status != core.Queued && status != core.Running {
			return false
		}
	}
	return len(q.Statuses) > 0 && q.Group == "" && q.FailedBefore.IsZero()
}
