package damage

import (
	"errors"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

// failAll turns all jobs into dead letters.
func failAll(s *storetest.Stage) func([]int64) {
	return func([]int64) {
		var ends []core.End
		for _, job := range s.ClaimDue(both(100)...).Jobs {
			ends = append(ends, core.End{Ref: storetest.RefOf(job), Outcome: core.EndFail, Errors: storetest.OneError(job, "no")})
		}
		s.FinishAll(ends)
	}
}

func apartRedrive(s *storetest.Stage, how storetest.Break) {
	sound, bad, mend := broken(s, how, core.NewJob{}, failAll(s))
	got, err := s.Store.Redrive(s.Ctx, core.DeadQuery{}, 100, core.Pace{Every: time.Minute})
	if s.Must(err); len(got) != len(sound)+len(bad) {
		s.Fatalf("%d are answered, want %d", len(got), len(sound)+len(bad))
	}
	for i, one := range got {
		if i > 0 && one.ID <= got[i-1].ID {
			s.Errorf("%d comes after %d", one.ID, got[i-1].ID)
		}
		job := s.Get(one.ID)
		if job.Type == "bad" {
			if !errors.Is(one.Err, core.ErrRow) || job.Status != core.Failed {
				s.Errorf("job %d is %s: %v", one.ID, job.Status, one.Err)
			}
			continue
		}
		if one.Err != nil || job.Status != core.Scheduled || !job.RunAt.Equal(one.RunAt) {
			s.Errorf("job %d is %s: %+v", one.ID, job.Status, one)
		}
		if gap := one.RunAt.Sub(got[1].RunAt) - time.Duration(i-1)*time.Minute; gap.Abs() > storetest.Patience {
			s.Errorf("job %d is due %s off the pace", one.ID, gap)
		}
	}
	namedAs(s, core.ApartDead, bad, "redrive")
	mend()
	if got, err = s.Store.Redrive(s.Ctx, core.DeadQuery{}, 100, core.Pace{}); err != nil || len(got) != len(bad) || got[0].Err != nil {
		s.Errorf("when they were mended: %+v, %v", got, err)
	}
}

func apartDiscard(s *storetest.Stage, how storetest.Break) {
	sound, bad, mend := broken(s, how, core.NewJob{}, failAll(s))
	gone, err := s.Store.Discard(s.Ctx, core.DeadQuery{}, 2) // the first one cannot be deleted
	if s.Must(err); gone.N != 2 || !slices.Equal(gone.Left, bad[:1]) || gone.After != sound[1] {
		s.Errorf("%+v, want 2 deleted and %v left", gone, bad[:1])
	}
	if gone, err = s.Store.Discard(s.Ctx, core.DeadQuery{}, 100); err != nil || gone.N != len(sound)-2 || !slices.Equal(gone.Left, bad) {
		s.Errorf("%+v, %v; want %d deleted and %v left", gone, err, len(sound)-2, bad)
	}
	if gone, err = s.Store.Discard(s.Ctx, core.DeadQuery{}, 100); err != nil || gone.N != 0 || !slices.Equal(gone.Left, bad) {
		s.Errorf("of the others %+v, %v", gone, err)
	}
	namedAs(s, core.ApartDead, bad, "discard")
	mend()
	if gone, err = s.Store.Discard(s.Ctx, core.DeadQuery{}, 100); err != nil || gone.N != len(bad) || len(gone.Left) != 0 {
		s.Errorf("when they were mended %+v, %v", gone, err)
	}
}

// apartDiscardMany: calls that continue where the previous one ended get past any number of undeletable dead letters, and
// each call leaves only a few.
func apartDiscardMany(s *storetest.Stage) {
	const many = 50
	var jobs []core.NewJob
	for range many {
		jobs = append(jobs, core.NewJob{Type: "bad"})
	}
	var ids []int64
	for _, one := range s.Submit(append(jobs, core.NewJob{Type: "sound"}, core.NewJob{Type: "sound"})...) {
		ids = append(ids, one.ID)
	}
	failAll(s)(ids)
	breaker, ok := s.DB.(storetest.Breaker)
	if !ok || breaker.Break(s.T, storetest.BreakDrop, ids[0]) == nil {
		s.Skip("this database cannot be broken so")
	}
	var q core.DeadQuery
	var left []int64
	deleted := 0
	for calls := 0; deleted < 2; calls++ {
		gone, err := s.Store.Discard(s.Ctx, q, 100)
		if s.Must(err); gone.After <= q.After || len(gone.Left) > 16 || calls > many {
			s.Fatalf("call %d after %d: %+v", calls, q.After, gone)
		}
		deleted, left, q.After = deleted+gone.N, append(left, gone.Left...), gone.After
	}
	if !slices.Equal(left, ids[:many]) {
		s.Errorf("left are %v, want %v", left, ids[:many])
	}
}
