package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func waitingScenarios() []scenario {
	return []scenario{
		{"Waiting/names each lane with scheduled jobs and when its first is due", waitingLanes},
		{"Waiting/a type marked unhandled is named", waitingUnhandled},
		{"Waiting/many types and many rows of one lane are not read", waitingFew},
	}
}

// waiting are the lanes the store names, in order.
func (s *stage) waiting() []core.Lane {
	s.Helper()
	lanes, err := s.store.Waiting(s.ctx)
	s.must(err)
	slices.SortFunc(lanes, func(a, b core.Lane) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Priority, b.Priority))
	})
	return lanes
}

func waitingLanes(s *stage) {
	if lanes := s.waiting(); len(lanes) != 0 {
		s.Fatalf("an empty database has %+v", lanes)
	}
	now := s.now()
	s.submit(
		core.NewJob{Type: "a", RunAt: now.Add(-time.Hour)}, core.NewJob{Type: "a", RunAt: now.Add(time.Hour)},
		core.NewJob{Type: "a", Priority: core.Bulk, Tenant: "t", RunAt: now.Add(2 * time.Hour)},
		core.NewJob{Type: "a", Priority: core.Bulk, RunAt: now.Add(3 * time.Hour)},
		core.NewJob{Type: "b", Priority: core.Critical, Tenant: "u", RunAt: now.Add(5 * time.Hour)},
		core.NewJob{Type: "b", Priority: core.Critical, Tenant: "t", RunAt: now.Add(4 * time.Hour)},
		core.NewJob{Type: "ein Typ/é", RunAt: now.Add(time.Minute)},
	)
	for _, status := range []core.Status{core.Queued, core.Running, core.Done, core.Failed, core.Cancelled} {
		s.put(status, core.NewJob{})
	}
	want := []core.Lane{
		{Priority: core.Default, Type: "a", DueIn: -time.Hour}, {Priority: core.Bulk, Type: "a", DueIn: 2 * time.Hour},
		{Priority: core.Critical, Type: "b", DueIn: 4 * time.Hour}, {Priority: core.Default, Type: "ein Typ/é", DueIn: time.Minute},
	}
	got := s.second().waiting()
	if len(got) != len(want) {
		s.Fatalf("got %+v, want %+v", got, want)
	}
	for i, lane := range got {
		if late := want[i].DueIn - lane.DueIn; late < 0 || late > patience || lane.Priority != want[i].Priority || lane.Type != want[i].Type {
			s.Errorf("got %+v, want %+v", lane, want[i])
		}
	}
}

func waitingUnhandled(s *stage) {
	s.submitMany(2, "a")
	s.must(s.store.Unhandled(s.ctx, refsOf(s.dispatch("a", 1))))
	if lanes := s.waiting(); len(lanes) != 1 || lanes[0].Type != "a" {
		s.Errorf("got %+v, want the lane of a", lanes)
	}
}

func waitingFew(s *stage) {
	var batch []core.NewJob
	for range core.MaxBatch {
		batch = append(batch, core.NewJob{Type: "many"})
	}
	s.submit(batch...)
	for i := range 20 {
		s.submit(core.NewJob{Type: fmt.Sprint("type ", i), Delay: time.Hour})
	}
	s.must(s.store.MarkDelivered(s.ctx, manyNames(2_000)))
	s.waiting()
	read := s.rowsRead(func() {
		if lanes := s.waiting(); len(lanes) != 21 {
			s.Errorf("%d lanes, want 21", len(lanes))
		}
	})
	if read > 500 {
		s.Errorf("the lanes of %d jobs were told by reading %d rows", len(batch)+20, read)
	}
}
