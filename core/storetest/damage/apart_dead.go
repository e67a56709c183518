package damage

import (
	"errors"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

// failAll makes dead letters of all jobs.
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
	n, err := s.Store.Discard(s.Ctx, core.DeadQuery{}, 2) // the first of all cannot be deleted
	if s.Must(err); n != 2 {
		s.Errorf("%d are deleted, want 2", n)
	}
	if n, err = s.Store.Discard(s.Ctx, core.DeadQuery{}, 100); err != nil || n != len(sound)-2 {
		s.Errorf("%d are deleted, %v; want %d", n, err, len(sound)-2)
	}
	if n, err = s.Store.Discard(s.Ctx, core.DeadQuery{}, 100); !errors.Is(err, core.ErrRow) || n != 0 {
		s.Errorf("of the others %d are deleted, %v", n, err)
	}
	namedAs(s, core.ApartDead, bad, "discard")
	mend()
	if n, err = s.Store.Discard(s.Ctx, core.DeadQuery{}, 100); err != nil || n != len(bad) {
		s.Errorf("when they were mended %d are deleted, %v", n, err)
	}
}
