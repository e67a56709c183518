package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
)

// Heartbeat extends leases; see core.WorkStore. It waits for no one's lock. Where rows did not come back a second
// transaction tells those that are locked from those that are stale. A row that raises an error is set apart and Busy.
func (s *Store) Heartbeat(ctx context.Context, beats []core.Ref, lease time.Duration) ([]core.Beat, error) {
	answers, err := s.heartbeat(ctx, beats, lease)
	if !errors.Is(err, core.ErrRow) {
		return answers, err
	}
	sound, err := s.soundRefs(ctx, beats, "beat", "heartbeat")
	if err != nil {
		return nil, err
	}
	extended := make(map[core.Ref]core.Beat, len(sound))
	err = apart.Halve(ctx, sound, func(part []core.Ref) error {
		got, err := s.heartbeat(ctx, part, lease)
		for i := range got {
			extended[part[i]] = got[i]
		}
		return err
	}, func(ref core.Ref, err error) error { return s.setApartJob(ctx, ref.ID, "", "heartbeat", err) })
	if err != nil {
		return nil, err
	}
	answers = make([]core.Beat, len(beats))
	for i, ref := range beats {
		beat, ok := extended[ref]
		if answers[i] = beat; !ok {
			answers[i].Busy = true
		}
	}
	return answers, nil
}

func (s *Store) heartbeat(ctx context.Context, beats []core.Ref, lease time.Duration) ([]core.Beat, error) {
	answers := make([]core.Beat, len(beats))
	for i := range answers {
		answers[i].Stale = true
	}
	if len(beats) == 0 {
		return answers, nil
	}
	extended := 0
	err := s.repeat(ctx, "heartbeat", s.guard(s.opts.LockTimeout),
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
