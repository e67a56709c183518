package storetest

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

// expect keeps a definition with a dead man's switch.
func (s *stage) expect(name string, within time.Duration) {
	s.Helper()
	s.putType(core.JobType{Name: name, ExpectWithin: within})
}

// counted counts an end of a job of the type in the minute of now.
func (s *stage) counted(name string, of core.Rollup) {
	s.Helper()
	of.Minute, of.Priority, of.Type = s.now(), core.Default, name
	s.must(s.store.AddRollups(s.ctx, int(s.number()%3), []core.Rollup{of}))
}

// overdue watches, twice, and wants so many alerts, the newest open or not.
func (s *stage) overdue(when, name string, alerts int, open bool) {
	s.Helper()
	for range 2 {
		s.must(s.store.WatchTypes(s.ctx))
	}
	var of []core.Alert
	tenant := ""
	for _, a := range s.alerts(core.AlertQuery{Kind: core.AlertTypeMissed, Tenant: &tenant}) {
		if a.Subject == name {
			of = append(of, a)
		}
	}
	if len(of) != alerts || alerts > 0 && (of[0].ClearedAt.IsZero() != open || of[0].Detail == "" || of[0].RaisedAt.IsZero()) {
		s.Fatalf("%s: want %d alerts about %s, the newest open: %t; got %+v", when, alerts, name, open, of)
	}
}

func typeOverdue(s *stage) {
	s.counted("a", core.Rollup{Done: 1}) // before anything is expected
	s.expect("a", time.Hour)
	s.putType(core.JobType{Name: "b"})
	s.must(s.store.MarkDelivered(s.ctx, []string{"c"}))
	s.advance(58 * time.Minute)
	s.overdue("in time", "a", 0, false)
	s.counted("a", core.Rollup{Starts: 1, Failed: 1, Retried: 1})
	s.counted("b", core.Rollup{Done: 1})
	s.advance(4 * time.Minute)
	s.maintain(core.MaintainRequest{})
	s.counted("a", core.Rollup{Starts: 1, Failed: 1})
	s.overdue("nothing was done", "a", 1, true)
	s.overdue("nothing is expected", "b", 0, false)
	s.overdue("nothing is defined", "c", 0, false)
	s.counted("a", core.Rollup{Done: 1})
	s.overdue("a success", "a", 1, false)
	s.advance(58 * time.Minute)
	s.counted("a", core.Rollup{Done: 1})
	s.advance(58 * time.Minute)
	s.overdue("a success in time", "a", 1, false)
	s.advance(4 * time.Minute)
	s.overdue("late again", "a", 2, true)
	s.advance(10 * time.Hour)
	s.maintain(core.MaintainRequest{})
	s.overdue("late still", "a", 2, true)
	s.counted("a", core.Rollup{Done: 1})
	s.advance(5 * time.Minute)
	s.maintain(core.MaintainRequest{})
	s.overdue("a success in a minute that was merged", "a", 2, false)
}

func typeRemembered(s *stage) {
	s.expect("a", 60*day)
	s.advance(30 * day)
	s.counted("a", core.Rollup{Done: 1})
	s.overdue("a success", "a", 0, false)
	for range 2 {
		s.advance(29 * day)
		s.maintain(core.MaintainRequest{})
		s.overdue("its minute is gone", "a", 0, false)
	}
	s.advance(3 * day)
	s.overdue("late", "a", 1, true)
}

func typeRewatched(s *stage) {
	late := func(alerts int) {
		s.Helper()
		s.advance(62 * time.Minute)
		s.overdue("late", "a", alerts, true)
	}
	s.expect("a", time.Hour)
	s.advance(50 * time.Minute)
	s.expect("a", time.Hour)
	s.advance(12 * time.Minute)
	s.overdue("the same length goes on", "a", 1, true)
	s.expect("a", time.Hour)
	s.overdue("the same length goes on", "a", 1, true)
	s.expect("a", time.Hour+time.Second)
	s.overdue("another length begins anew", "a", 1, false)
	late(2)
	s.putType(core.JobType{Name: "a"})
	if open := s.alerts(core.AlertQuery{Open: true}); len(open) != 0 {
		s.Fatalf("nothing is expected: %+v", open)
	}
	s.expect("a", time.Hour)
	s.overdue("set again", "a", 2, false)
	late(3)
	s.must(s.store.DeleteType(s.ctx, "a"))
	if open := s.alerts(core.AlertQuery{Open: true}); len(open) != 0 {
		s.Fatalf("the definition is gone: %+v", open)
	}
	s.advance(62 * time.Minute)
	s.overdue("the definition is gone", "a", 3, false)
}

// typeWatchRace watches from two processes while definitions are removed and made again: an alert is raised once, and none
// stays about a type that is gone.
func typeWatchRace(s *stage) {
	handles := []*stage{s, s.second()}
	names := []string{"a", "b", "c", "d"}
	for _, name := range names {
		s.expect(name, time.Hour)
	}
	s.advance(62 * time.Minute)
	acts := []func() error{func() error { return s.store.DeleteType(s.ctx, "a") }, func() error { return handles[1].store.DeleteType(s.ctx, "b") }}
	for i := range 8 {
		acts = append(acts, func() error { return handles[i%2].store.WatchTypes(s.ctx) })
	}
	s.together(acts...)
	s.overdue("late", "c", 1, true)
	s.overdue("late", "d", 1, true)
	if open := s.alerts(core.AlertQuery{Open: true}); len(open) != 2 {
		s.Errorf("open: %+v", open)
	}
}
