package postgres

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// Heartbeat extends leases; see core.WorkStore. It waits for no one's lock. Where rows did not come back a second
// transaction tells those that are locked from those that are stale.
func (s *Store) Heartbeat(ctx context.Context, beats []core.Ref, lease time.Duration) ([]core.Beat, error) {
	answers := make([]core.Beat, len(beats))
	for i := range answers {
		answers[i].Stale = true
	}
	if len(beats) == 0 {
		return answers, nil
	}
	extended := 0
	err := s.run(ctx, "heartbeat", s.guard(s.opts.LockTimeout),
		s.sql.call("heartbeat", refArgs(s.args(3).Interval(lease), beats), func(r wire.Row) error {
			answers[r.Int(0)-1] = core.Beat{CancelWanted: r.Bool(1)}
			extended++
			return nil
		}))
	if err != nil {
		return nil, err
	}
	if extended == len(beats) {
		return answers, nil
	}
	running, err := s.current(ctx, "heartbeat", beats, core.Running)
	if err != nil {
		return nil, err
	}
	for i := range answers {
		if answers[i].Stale && running[i] {
			answers[i] = core.Beat{Busy: true}
		}
	}
	return answers, nil
}
