package tick

import (
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func leaseRemover(s *storetest.Stage) storetest.LeaseRemover {
	s.Helper()
	db, ok := s.DB.(storetest.LeaseRemover)
	if !ok {
		s.Skip("rows of leases cannot be deleted by hand here")
	}
	return db
}

// leasesRemade: after the rows of some or all buckets were deleted, the second tick holds all buckets again.
func leasesRemade(s *storetest.Stage) {
	db := leaseRemover(s)
	for _, last := range []int{0, core.Buckets/2 - 1, core.Buckets - 1} {
		before := s.Tokens(s.Tick(storetest.TickRequest("holder-1")).Held)
		s.Queue(core.Buckets, s.NewType()) // so that each bucket has a job dispatched with its token
		db.RemoveLeases(s.T, 0, last)
		s.Tick(storetest.TickRequest("holder-1"))
		after := s.Tokens(s.Tick(storetest.TickRequest("holder-1")).Held)
		if len(after) != core.Buckets {
			s.Errorf("%d buckets are held after the rows 0 to %d were deleted", len(after), last)
		}
		for bucket, token := range after {
			if deleted := bucket <= last; deleted && token <= before[bucket] || !deleted && token != before[bucket] {
				s.Errorf("after the rows 0 to %d were deleted bucket %d has the token %d, before %d", last, bucket, token, before[bucket])
			}
		}
	}
}

func leasesRefused(s *storetest.Stage) {
	db := leaseRemover(s)
	allow := db.RefuseLease(s.T, 5)
	db.RemoveLeases(s.T, 4, 6)
	s.Tick(storetest.TickRequest("holder-1"))
	if held := s.Tick(storetest.TickRequest("holder-1")).Held; len(held) != core.Buckets-1 {
		s.Errorf("%d buckets are held besides the one whose row cannot be created", len(held))
	}
	named, err := s.Store.Apart(s.Ctx, 10)
	s.Must(err)
	if len(named) != 1 || named[0].Kind != core.ApartBucket || named[0].ID != 5 || named[0].Error == "" {
		s.Errorf("named are %+v", named)
	}
	allow()
	s.Tick(storetest.TickRequest("holder-1"))
	if held := s.Tick(storetest.TickRequest("holder-1")).Held; len(held) != core.Buckets {
		s.Errorf("%d buckets are held once the row can be made", len(held))
	}
}
