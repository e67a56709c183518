package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
)

// lanesApart takes from lanes, where a row of one of them raises an error: from each half of them, and so on until that
// lane is alone. There the rows at fault are found and set apart, so that the rest of the lane goes on too. take takes from
// these quotas; it is given the places of the quotas.
func (s *Store) lanesApart(ctx context.Context, quotas []core.Quota, name, act string, take func(places []int) error) error {
	places := make([]int, len(quotas))
	for i := range places {
		places[i] = i
	}
	return apart.Halve(ctx, places, take, func(place int, err error) error {
		return s.laneApart(ctx, &quotas[place], name, act, err, func() error { return take([]int{place}) })
	})
}

// laneApart sets rows of a lane apart until one can be taken from it, for a few rounds. What then still fails is left for a
// while, so that other lanes do not wait for this one each time.
func (s *Store) laneApart(ctx context.Context, q *core.Quota, name, act string, err error, take func() error) error {
	found := 0
	for range faultRounds {
		ids, failed := s.dueOf(ctx, q)
		if failed != nil {
			if errors.Is(failed, core.ErrRow) {
				break // not even their ids can be read
			}
			return failed
		}
		faults, failed := s.faultsOf(ctx, ids, name, act)
		if failed != nil {
			return failed
		}
		if len(faults) == 0 {
			break
		}
		if failed := s.SetApart(ctx, faults); failed != nil {
			return failed
		}
		found += len(faults)
		if err = take(); !errors.Is(err, core.ErrRow) {
			return err
		}
	}
	s.closed.close(lane{q.Priority, q.Type}, laneClosed)
	if found > 0 {
		return nil // they are named
	}
	return s.SetApart(ctx, []core.RowFault{{Kind: core.ApartType, Name: fmt.Sprintf("%s/%s", q.Priority, q.Type), About: q.Type, Act: act, Error: faultText(err)}})
}

// dueOf are the first due jobs of a quota's lane.
func (s *Store) dueOf(ctx context.Context, q *core.Quota) (ids []int64, err error) {
	a := s.args(3).Int2(int16(q.Priority)).Text(q.Type).Int8(faultWindow)
	err = s.run(ctx, "due of a lane", s.guard(s.opts.LockTimeout), s.sql.call("due_of_lane", a, collect(&ids)))
	return ids, err
}

// claimApart is ClaimDue where a row raises an error.
func (s *Store) claimApart(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	whole := core.ClaimResult{Taken: make([]core.Taken, len(req.Quotas)), DueIn: maxDueIn}
	err := s.lanesApart(ctx, req.Quotas, "start", "claim", func(places []int) error {
		part := req
		part.Quotas = pick(req.Quotas, places)
		got, err := s.claim(ctx, part)
		if err != nil {
			return err
		}
		whole.Now, whole.Jobs, whole.DueIn = got.Now, append(whole.Jobs, got.Jobs...), min(whole.DueIn, got.DueIn)
		for i, place := range places {
			whole.Taken[place] = got.Taken[i]
		}
		return nil
	})
	if err == nil && whole.Now.IsZero() { // nothing could be taken
		whole.Now, err = s.Now(ctx)
	}
	if err != nil {
		return core.ClaimResult{}, err
	}
	return whole, nil
}

func pick[T any](all []T, places []int) []T {
	picked := make([]T, len(places))
	for i, place := range places {
		picked[i] = all[place]
	}
	return picked
}
