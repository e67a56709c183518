package work

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func waitingScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Waiting/names each lane with scheduled jobs and when its first is due", Run: waitingLanes},
		{Name: "Waiting/a type marked unhandled is named", Run: waitingUnhandled},
		{Name: "Waiting/many types and many rows of one lane are not read", Run: waitingFew},
	}
}

// waiting returns the waiting lanes that the store lists, in order.
func waiting(s *storetest.Stage) []core.Lane {
	s.Helper()
	lanes, err := s.Store.Waiting(s.Ctx)
	s.Must(err)
	slices.SortFunc(lanes, func(a, b core.Lane) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Priority, b.Priority))
	})
	return lanes
}

func waitingLanes(s *storetest.Stage) {
	if lanes := waiting(s); len(lanes) != 0 {
		s.Fatalf("an empty database has %+v", lanes)
	}
	now := s.Now()
	s.Submit(
		core.NewJob{Type: "a", RunAt: now.Add(-time.Hour)}, core.NewJob{Type: "a", RunAt: now.Add(time.Hour)},
		core.NewJob{Type: "a", Priority: core.Bulk, Tenant: "t", RunAt: now.Add(2 * time.Hour)},
		core.NewJob{Type: "a", Priority: core.Bulk, RunAt: now.Add(3 * time.Hour)},
		core.NewJob{Type: "b", Priority: core.Critical, Tenant: "u", RunAt: now.Add(5 * time.Hour)},
		core.NewJob{Type: "b", Priority: core.Critical, Tenant: "t", RunAt: now.Add(4 * time.Hour)},
		core.NewJob{Type: "ein Typ/é", RunAt: now.Add(time.Minute)},
	)
	for _, status := range []core.Status{core.Queued, core.Running, core.Done, core.Failed, core.Cancelled} {
		s.Put(status, core.NewJob{})
	}
	want := []core.Lane{
		{Priority: core.Default, Type: "a", DueIn: -time.Hour}, {Priority: core.Bulk, Type: "a", DueIn: 2 * time.Hour},
		{Priority: core.Critical, Type: "b", DueIn: 4 * time.Hour}, {Priority: core.Default, Type: "ein Typ/é", DueIn: time.Minute},
	}
	got := waiting(s.Second())
	if len(got) != len(want) {
		s.Fatalf("got %+v, want %+v", got, want)
	}
	for i, lane := range got {
		if late := want[i].DueIn - lane.DueIn; late < 0 || late > storetest.Patience || lane.Priority != want[i].Priority || lane.Type != want[i].Type {
			s.Errorf("got %+v, want %+v", lane, want[i])
		}
	}
}

func waitingUnhandled(s *storetest.Stage) {
	s.SubmitMany(2, "a")
	s.Must(s.Store.Unhandled(s.Ctx, storetest.RefsOf(s.Dispatch("a", 1))))
	if lanes := waiting(s); len(lanes) != 1 || lanes[0].Type != "a" {
		s.Errorf("got %+v, want the lane of a", lanes)
	}
}

func waitingFew(s *storetest.Stage) {
	var batch []core.NewJob
	for range core.MaxBatch {
		batch = append(batch, core.NewJob{Type: "many"})
	}
	s.Submit(batch...)
	for i := range 20 {
		s.Submit(core.NewJob{Type: fmt.Sprint("type ", i), Delay: time.Hour})
	}
	s.Must(s.Store.MarkDelivered(s.Ctx, storetest.ManyNames(2_000)))
	waiting(s)
	read := RowsRead(s, func() {
		if lanes := waiting(s); len(lanes) != 21 {
			s.Errorf("%d lanes, want 21", len(lanes))
		}
	})
	if read > 500 {
		s.Errorf("listing the lanes of %d jobs read %d rows", len(batch)+20, read)
	}
}
