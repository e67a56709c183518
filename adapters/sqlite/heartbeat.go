package sqlite

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Heartbeat extends the leases of running rows whose token is equal.
func (s *Store) Heartbeat(ctx context.Context, beats []core.Ref, lease time.Duration) ([]core.Beat, error) {
	answers := make([]core.Beat, len(beats))
	err := s.carefully(ctx, func(t *tx) error {
		if t.careful {
			return t.beatEach(beats, lease, answers)
		}
		live, err := t.liveStates(beats)
		if err != nil {
			return err
		}
		extended := make([]int64, 0, len(beats))
		for i, ref := range beats {
			a, ok := live[ref.ID]
			if !ok || a.status != core.Running || a.token != ref.Token {
				answers[i] = core.Beat{Stale: true}
				continue
			}
			answers[i] = core.Beat{CancelWanted: a.cancelWanted}
			extended = append(extended, ref.ID)
		}
		if len(extended) == 0 {
			return nil
		}
		_, err = t.exec("heartbeat", ids(extended), t.now+lease.Microseconds(), core.TargetWorkerID)
		return err
	})
	if err != nil {
		return nil, wrap("heartbeat", err)
	}
	return answers, nil
}

// beatEach extends each lease alone. A row that raises an error is Busy.
func (t *tx) beatEach(beats []core.Ref, lease time.Duration, answers []core.Beat) error {
	for i, ref := range beats {
		done, err := t.alone(jobFault(ref.ID, "", "heartbeat"), func() error {
			live, err := t.liveStates([]core.Ref{ref})
			a := live[ref.ID]
			if err != nil || a == nil || a.status != core.Running || a.token != ref.Token {
				answers[i] = core.Beat{Stale: true}
				return err
			}
			answers[i] = core.Beat{CancelWanted: a.cancelWanted}
			return t.change(1, "heartbeat", ids([]int64{ref.ID}), t.now+lease.Microseconds(), core.TargetWorkerID)
		})
		if err != nil {
			return err
		}
		if !done {
			answers[i] = core.Beat{Busy: true}
		}
	}
	return nil
}

// attempts reads the live rows that refs point at.
func (t *tx) liveStates(refs []core.Ref) (map[int64]*liveState, error) {
	list := make([]int64, len(refs))
	for i, ref := range refs {
		list[i] = ref.ID
	}
	live := make(map[int64]*liveState, len(refs))
	err := t.query("get_attempts", func(r row) error {
		a := r.liveStateOnly()
		live[a.id] = &a
		return nil
	}, ids(list))
	return live, err
}
