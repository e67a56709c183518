package sqlite

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/belfry-dev/belfry/core"
)

// listWindow is how many rows one call of List looks at, with any filter.
const listWindow = 10_000

// Statuses as bits (1 << status).
const (
	bitsInFlight = 1<<core.Queued | 1<<core.Running
	bitsDead     = 1 << core.Failed
)

// List returns the jobs that match, newest id first; see core.JobStore.
func (s *Store) List(ctx context.Context, q core.ListQuery) (page core.Page, err error) {
	if q.Before <= 0 {
		q.Before = math.MaxInt64
	}
	if q.Limit <= 0 {
		q.Limit = 1000
	}
	bits := listBits(q)
	if bits == 0 {
		return page, nil
	}
	l := listing{q: q, window: cmp.Or(s.listWindow, listWindow), bits: bits}
	err = s.readers.read(ctx, func(c *conn) error {
		return c.snapshot(ctx, func() error {
			page, err = l.page(ctx, c)
			return err
		})
	})
	return page, wrap("list", err)
}

// listBits are the statuses asked for.
func listBits(q core.ListQuery) (bits int64) {
	for _, status := range q.Statuses {
		bits |= 1 << status
	}
	if len(q.Statuses) == 0 {
		bits = -1
	}
	if q.Group != "" || !q.FailedBefore.IsZero() {
		bits &= bitsDead
	}
	return bits
}

// errEnough ends a statement whose further rows are not asked for.
var errEnough = errors.New("enough")

// listing is one call of List, in one snapshot.
type listing struct {
	q      core.ListQuery
	window int64
	bits   int64
}

func (l *listing) page(ctx context.Context, c *conn) (core.Page, error) {
	if l.bits&bitsInFlight != 0 && l.bits&^bitsInFlight == 0 {
		many, _, err := c.number(ctx, "many_in_flight", l.window)
		if err != nil {
			return core.Page{}, err
		}
		if many == 0 {
			return l.read(ctx, c, "list_in_flight")
		}
	}
	w := l.way()
	page, err := l.read(ctx, c, "list_"+string(w))
	if err == nil && page.Next == 0 {
		page.Next, _, err = c.number(ctx, "list_last_"+string(w), l.args()...)
	}
	return page, err
}

func (l *listing) read(ctx context.Context, c *conn, name string) (core.Page, error) {
	var page core.Page
	size := 0
	err := c.query(ctx, name, func(r row) error {
		j := r.job()
		size += j.Size()
		if page.Jobs = append(page.Jobs, j); l.q.Bytes > 0 && size >= l.q.Bytes {
			return errEnough
		}
		return nil
	}, l.args()...)
	page = core.PageOf(page.Jobs, l.q.Limit)
	if errors.Is(err, errEnough) {
		page.Next, err = page.Jobs[len(page.Jobs)-1].ID, nil
	}
	return page, err
}

func (l *listing) args() []any {
	return []any{l.bits, l.q.Type, tenantOrNull(l.q.Tenant), int64(l.q.Priority), l.q.Tag, timeOr(l.q.RunAfter, math.MinInt64),
		timeOrNull(l.q.RunBefore), l.q.Before, l.q.Limit, l.window, l.q.Group, timeOrNull(l.q.FailedBefore), l.q.Schedule}
}

// way is the way that meets the fewest rows in vain.
func (l *listing) way() way {
	switch {
	case l.bits == bitsDead && l.q.Group != "":
		return byGroup
	case l.q.Tenant != nil && *l.q.Tenant != "":
		return byTenant
	case l.bits == bitsDead && l.q.Type != "":
		return byType
	}
	return byID
}
