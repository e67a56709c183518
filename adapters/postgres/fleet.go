package postgres

import (
	"context"
	"strings"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// The parts of statements that look at what workers handle. A worker lives for core.PresenceTTL after it was seen; those
// with equal types are looked at once. {fleet} makes what live workers handle, {consumers} what those do that receive from
// queues; {functions} makes what functions were seen to handle, long ago perhaps. {l.handled} is about the type of a row l
// and needs one of the first two, {l.expected} the last.
const (
	fleet = `live AS MATERIALIZED (
    SELECT DISTINCT u.type
    FROM  (SELECT DISTINCT ON (types_key) types FROM belfry.workers WHERE {is_live} ORDER BY types_key) w
           CROSS JOIN LATERAL unnest(w.types) AS u (type)
), delivering AS MATERIALIZED (
    SELECT count(*) > 0 AS yes FROM belfry.workers WHERE delivers AND {is_live}
)`
	isLive      = `seen_at > {now} - interval '90 s'`
	deliverable = `EXISTS (SELECT FROM belfry.job_types t WHERE t.type = l.type AND (t.target IS NOT NULL OR t.delivered))`
	handled     = `(l.type IN (SELECT type FROM live) OR (SELECT yes FROM delivering) AND ` + deliverable + `)`

	// Types that no live worker handles are published all the same where the caller says so ($2), or where a program of
	// before announced them, which does not say whether it lives; unless they are marked.
	published = handled + ` OR ($2::boolean OR EXISTS (SELECT FROM belfry.job_types t WHERE t.type = l.type AND t.announced_at IS NOT NULL))
  AND NOT EXISTS (SELECT FROM belfry.job_types t WHERE t.type = l.type AND t.unhandled_until > {now})`

	// A type without a live worker is handled as far as anybody knows where a function was seen that handles it, or a
	// program of before, and nothing has come back since.
	functions = `functions AS MATERIALIZED (
    SELECT u.type, max(w.seen_at) AS seen_at FROM belfry.workers w CROSS JOIN LATERAL unnest(w.types) AS u (type) WHERE w.function GROUP BY u.type
), delivering_functions AS MATERIALIZED (
    SELECT max(seen_at) AS seen_at FROM belfry.workers WHERE function AND delivers
)`
	announced = `EXISTS (SELECT FROM belfry.job_types t WHERE t.type = l.type AND t.announced_at IS NOT NULL AND (t.unhandled_until IS NULL OR t.unhandled_until <= {now}))
   OR coalesce((SELECT seen_at FROM functions f WHERE f.type = l.type), '-infinity') > ` + cameBack
	expected = `(` + announced + `
   OR ` + deliverable + ` AND coalesce((SELECT seen_at FROM delivering_functions), '-infinity') > ` + cameBack + `)`
	cameBack = `coalesce((SELECT t.unhandled_until - t.unhandled_wait FROM belfry.job_types t WHERE t.type = l.type), '-infinity')`
)

// delivered is about a type of which nobody runs but the jobs that bring a target of their own.
const delivered = `(EXISTS (SELECT FROM belfry.job_types t WHERE t.type = l.type AND t.target IS NULL AND t.delivered)
   AND l.type NOT IN (SELECT type FROM live) AND NOT (` + announced + `))`

// fleetParts puts the parts in.
var fleetParts = strings.NewReplacer(
	"{fleet}", strings.ReplaceAll(fleet, "{is_live}", isLive), "{consumers}", strings.ReplaceAll(fleet, "{is_live}", "queues AND "+isLive),
	"{functions}", functions, "{l.handled}", handled, "{l.expected}", expected, "{l.delivered}", delivered,
)

// Announce says that a worker is there; see core.WorkStore.
func (s *Store) Announce(ctx context.Context, p core.Presence) error {
	a := s.args(12).Text(p.ID).Text(p.Host).Text(p.Version).Bool(p.Function).Bool(p.Queues).Bool(p.Delivers)
	wire.Texts(a, p.Types, func(t *string) string { return *t }).Text(p.TypesKey()).Int8(int64(p.Slots)).Int8(int64(p.Busy)).
		Int8(int64(p.DeliverySlots)).Int8(int64(p.Deliveries))
	return s.repeat(ctx, "announce", s.guard(s.opts.LockTimeout), s.sql.call("announce", a, nil))
}

// Withdraw says that a worker is gone.
func (s *Store) Withdraw(ctx context.Context, id string) error {
	return s.repeat(ctx, "withdraw", s.guard(s.opts.LockTimeout), s.sql.call("withdraw", wire.NewArgs(1).Text(id), nil))
}

// The kinds of rows of the statement fleet.
const (
	fleetLive = iota
	fleetDelivers
	fleetMarked
	fleetEarlier
)

// Fleet reads what workers handle now.
func (s *Store) Fleet(ctx context.Context) (core.Fleet, error) {
	f := core.Fleet{Live: map[string]bool{}, Marked: map[string]bool{}, Earlier: map[string]bool{}}
	err := s.repeat(ctx, "fleet", s.guard(s.opts.LockTimeout), s.sql.call("fleet", s.args(0), func(r wire.Row) error {
		switch r.Int(0) {
		case fleetLive:
			f.Live[r.Text(1)] = true
		case fleetDelivers:
			f.Delivers = true
		case fleetMarked:
			f.Marked[r.Text(1)] = true
		case fleetEarlier:
			f.Earlier[r.Text(1)] = true
		}
		return nil
	}))
	return f, err
}
