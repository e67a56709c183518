package storetest

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func workerScenarios() []scenario {
	return []scenario{
		{"Announce/a worker lives for 90 s and handles what it said last", announceAges},
		{"Announce/many workers handle what any of them does", announceMany},
		{"Announce/who delivers handles types that have targets", announceDelivers},
		{"Announce/odd names and thousands of types come back", announceOdd},
		{"Withdraw/a worker is gone at once, one that is not known is none", withdrawGone},
		{"Tick/only what a live consumer handles is waiting, unless asked otherwise", tickConsumers},
		{"Tick/a program of before that announced a type may still handle it", tickEarlier},
		{"Unhandled/marks nothing while a live worker handles the type", unhandledElsewhere},
		{"Stats/a type whose last worker went away is unhandled 90 s later, due or queued", statsGone},
		{"Stats/a function handles its types however long nothing invoked it, until a job comes back", statsFunction},
		{"Stats/live workers are counted, by type too", statsWorkers},
		{"Maintain/forgets workers that are long gone", maintainWorkers},
	}
}

// worker is one that receives from queues and handles types.
func worker(types ...string) core.Presence {
	types = slices.Sorted(slices.Values(types))
	return core.Presence{ID: "worker of " + strings.Join(types, " "), Queues: true, Types: types, SlotUse: core.SlotUse{Slots: 10, Busy: 7, DeliverySlots: 5, Deliveries: 3}}
}

// announce says that a worker of its own lives that handles the types.
func (s *stage) announce(types ...string) {
	s.Helper()
	s.must(s.store.Announce(s.ctx, worker(types...)))
}

// fleet is what workers handle: types in order, and "delivers".
func (s *stage) fleet() []string {
	s.Helper()
	f, err := s.store.Fleet(s.ctx)
	s.must(err)
	var all []string
	for t, live := range f.Live {
		if live {
			all = append(all, t)
		}
	}
	if f.Delivers {
		all = append(all, "delivers")
	}
	slices.Sort(all)
	return all
}

func (s *stage) handled(when string, want ...string) {
	s.Helper()
	if got := s.fleet(); !slices.Equal(got, want) {
		s.Errorf("%s: %q is handled, want %q", when, got, want)
	}
}

// announcedLanes are the types that a tick names which publishes only what is announced.
func (s *stage) announcedLanes() []string {
	s.Helper()
	req := tickRequest("holder-1")
	req.Unannounced = false
	var types []string
	for _, l := range s.tick(req).Waiting {
		types = append(types, l.Type)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

func announceAges(s *stage) {
	s.handled("at first")
	w := worker("a", "b")
	s.must(s.store.Announce(s.ctx, w))
	s.second().handled("announced", "a", "b")
	s.advance(core.PresenceTTL - 10*time.Second)
	s.handled("soon", "a", "b")
	w.Types = []string{"b", "c"}
	s.must(s.store.Announce(s.ctx, w))
	s.handled("said anew", "b", "c")
	s.advance(core.PresenceTTL - 10*time.Second)
	s.handled("90 s after the first", "b", "c")
	s.advance(11 * time.Second)
	s.handled("90 s after the last")
	s.must(s.store.Announce(s.ctx, w))
	s.handled("back", "b", "c")
}

func announceMany(s *stage) {
	handles := []*stage{s, s.second()}
	s.times(40, func(i int) error {
		w := worker("common", []string{"x", "y", "z"}[i%3])
		w.ID = string(rune('A' + i%20))
		return handles[i%2].store.Announce(s.ctx, w)
	})
	got := s.fleet()
	for _, t := range []string{"common", "x"} {
		if !slices.Contains(got, t) {
			s.Errorf("%s is not handled: %q", t, got)
		}
	}
	direct := worker("direct")
	direct.Queues = false
	s.must(s.store.Announce(s.ctx, direct))
	if slices.Contains(s.fleet(), "direct") {
		s.Error("a worker that claims from the table counts as a consumer of queues")
	}
}

func announceDelivers(s *stage) {
	s.putType(aType("target"))
	s.must(s.store.MarkDelivered(s.ctx, []string{"own targets"}))
	s.putType(core.JobType{Name: "plain", MaxAttempts: 3})
	for _, t := range []string{"target", "own targets", "plain"} {
		s.submitMany(1, t)
	}
	if got := s.announcedLanes(); got != nil {
		s.Errorf("without a worker %q are named", got)
	}
	w := worker()
	w.Delivers = true
	s.must(s.store.Announce(s.ctx, w))
	s.handled("announced", "delivers")
	if got := s.announcedLanes(); !slices.Equal(got, []string{"own targets", "target"}) {
		s.Errorf("%q are named", got)
	}
	if stats, _ := s.stats(); stats.Unhandled != 1 || !reflect.DeepEqual(stats.UnhandledTypes, []core.TypeCount{{Type: "plain", N: 1}}) {
		s.Errorf("unhandled are %d: %+v", stats.Unhandled, stats.UnhandledTypes)
	}
	s.must(s.store.Unhandled(s.ctx, refsOf(s.dispatch("target", 1))))
	if !slices.Contains(s.announcedLanes(), "target") {
		s.Error("a type that a live worker delivers is marked as unhandled")
	}
}

func announceOdd(s *stage) {
	odd := []string{"", "a'b", "\"{}\\,", "NULL", "é 漢字", strings.Repeat("x", 200)}
	w := worker(odd...)
	w.ID, w.Host, w.Version = "an 'odd' \"id\"", "host\\é", "v1.2.3"
	s.must(s.store.Announce(s.ctx, w))
	got := s.fleet()
	if want := slices.Sorted(slices.Values(odd)); !slices.Equal(got, want) {
		s.Errorf("got %q, want %q", got, want)
	}
	s.must(s.store.Withdraw(s.ctx, w.ID))
	w.Types = manyNames(5_000)
	s.must(s.store.Announce(s.ctx, w))
	if got := s.fleet(); len(got) != 5_000 {
		s.Errorf("%d of 5,000 types came back", len(got))
	}
}

func withdrawGone(s *stage) {
	s.announce("a")
	s.announce("b")
	s.must(s.store.Withdraw(s.ctx, "nobody"))
	s.must(s.store.Withdraw(s.ctx, worker("a").ID))
	s.handled("withdrawn", "b")
	s.must(s.store.Withdraw(s.ctx, worker("a").ID))
	s.announce("a")
	s.handled("back", "a", "b")
}

func tickConsumers(s *stage) {
	for _, t := range []string{"a", "b", "c", "d"} {
		s.submitMany(2, t)
	}
	named := func(when string, want ...string) {
		s.Helper()
		if got := s.announcedLanes(); !slices.Equal(got, want) {
			s.Errorf("%s: %q are named, want %q", when, got, want)
		}
	}
	named("without a worker")
	s.announce("a")
	direct := worker("b")
	direct.Queues = false
	s.must(s.store.Announce(s.ctx, direct))
	function := worker("c")
	function.Function = true
	s.must(s.store.Announce(s.ctx, function))
	named("one of each", "a", "c")
	req := tickRequest("holder-1")
	if n := len(s.tick(req).Waiting); n != 4 {
		s.Errorf("asked for unannounced types too, %d are named", n)
	}
	req.Dispatch, req.Unannounced = false, false
	if n := len(s.tick(req).Waiting); n != 4 {
		s.Errorf("without a queue %d are named", n)
	}
	s.advance(core.PresenceTTL + time.Second)
	named("90 s later")
}

func tickEarlier(s *stage) {
	db, can := s.db.(EarlierAnnouncer)
	if !can {
		s.Skip("this store has no program of before")
	}
	s.submitMany(3, "a")
	db.AnnounceEarlier(s.T, "a")
	if got := s.announcedLanes(); !slices.Equal(got, []string{"a"}) {
		s.Errorf("%q are named", got)
	}
	if stats, _ := s.stats(); stats.Unhandled != 0 {
		s.Errorf("%d are unhandled", stats.Unhandled)
	}
	s.must(s.store.Unhandled(s.ctx, refsOf(s.dispatch("a", 1))))
	if stats, _ := s.stats(); s.announcedLanes() != nil || stats.Unhandled != 3 {
		s.Errorf("after one came back: named are %q, %d unhandled", s.announcedLanes(), stats.Unhandled)
	}
	s.announce("a") // by a program of now: from here on it is known whether it lives
	s.advance(core.PresenceTTL + time.Second)
	if stats, _ := s.stats(); s.announcedLanes() != nil || stats.Unhandled != 3 {
		s.Errorf("its worker gone: named are %q, %d unhandled", s.announcedLanes(), stats.Unhandled)
	}
}

func unhandledElsewhere(s *stage) {
	s.announce("a")
	queued := append(s.queue(2, "a"), s.queue(2, "b")...)
	s.must(s.store.Unhandled(s.ctx, refsOf(queued)))
	for _, job := range queued {
		if got := s.get(job.ID); got.Status != core.Scheduled || got.LeaseToken != job.LeaseToken+1 || got.Attempts != 0 {
			s.Errorf("want it scheduled under the next token without an attempt: %+v", got)
		}
	}
	if !s.waits("a") || s.waits("b") {
		s.Errorf("a, which is handled, waits: %t; b, which nobody handles: %t", s.waits("a"), s.waits("b"))
	}
	s.announce("b")
	if !s.waits("b") {
		s.Error("announced, b does not wait")
	}
	// What lives counts, whatever mark there was.
	s.must(s.store.Withdraw(s.ctx, worker("b").ID))
	s.must(s.store.Unhandled(s.ctx, refsOf(s.dispatch("b", 1))))
	late := worker("b")
	late.ID = "late"
	s.must(s.store.Announce(s.ctx, late))
	if got := s.announcedLanes(); !slices.Equal(got, []string{"a", "b"}) {
		s.Errorf("named are %q", got)
	}
}

func statsGone(s *stage) {
	s.announce("a")
	direct := worker("b")
	direct.Queues = false
	s.must(s.store.Announce(s.ctx, direct))
	s.put(core.Running, core.NewJob{Type: "a"})
	s.queue(2, "a")
	s.submitMany(3, "a")
	s.submitMany(2, "b")
	s.submitOne(core.NewJob{Type: "a", Delay: time.Hour})
	unhandled := func(when string, want ...core.TypeCount) {
		s.Helper()
		sum := 0
		for _, u := range want {
			sum += u.N
		}
		if stats, _ := s.stats(); stats.Unhandled != sum || !slices.Equal(stats.UnhandledTypes, want) {
			s.Errorf("%s: %d unhandled, %+v; want %+v", when, stats.Unhandled, stats.UnhandledTypes, want)
		}
	}
	unhandled("while both live")
	s.must(s.store.Withdraw(s.ctx, direct.ID))
	unhandled("one has left", core.TypeCount{Type: "b", N: 2})
	s.advance(core.PresenceTTL + time.Second)
	unhandled("the other has died", core.TypeCount{Type: "a", N: 5}, core.TypeCount{Type: "b", N: 2})
	s.announce("a")
	unhandled("it is back", core.TypeCount{Type: "b", N: 2})
}

func statsFunction(s *stage) {
	f := worker("a")
	f.Function = true
	s.must(s.store.Announce(s.ctx, f))
	s.submitMany(3, "a")
	unhandled := func(when string, want int) {
		s.Helper()
		if stats, _ := s.stats(); stats.Unhandled != want {
			s.Errorf("%s: %d unhandled, want %d", when, stats.Unhandled, want)
		}
	}
	s.advance(48 * time.Hour)
	unhandled("two days later", 0)
	if !s.waits("a") {
		s.Error("two days later it is not published, and so would never be invoked")
	}
	s.must(s.store.Unhandled(s.ctx, refsOf(s.dispatch("a", 1))))
	unhandled("one came back", 3)
	if s.waits("a") {
		s.Error("one came back, and it is published again at once")
	}
	s.advance(31 * time.Second)
	unhandled("the mark ran out", 3)
	if !s.waits("a") {
		s.Error("the mark ran out, and it is not tried again")
	}
	s.must(s.store.Announce(s.ctx, f))
	s.advance(time.Hour)
	unhandled("it said that it is there", 0)
}

func statsWorkers(s *stage) {
	for _, id := range []string{"1", "2", "3"} {
		w := worker("a", "b")
		w.ID = id
		s.must(s.store.Announce(s.ctx, w))
	}
	direct := worker("b", "c")
	direct.Queues = false
	s.must(s.store.Announce(s.ctx, direct))
	want := []core.TypeCount{{Type: "a", N: 3}, {Type: "b", N: 4}, {Type: "c", N: 1}}
	if stats, _ := s.stats(); stats.Workers != 4 || !slices.Equal(stats.Handlers, want) {
		s.Errorf("%d workers: %+v, want 4: %+v", stats.Workers, stats.Handlers, want)
	}
	if stats, _ := s.stats(); stats.SlotUse != (core.SlotUse{Slots: 40, Busy: 28, DeliverySlots: 20, Deliveries: 12}) {
		s.Errorf("slots %+v", stats.SlotUse)
	}
	s.advance(core.PresenceTTL + time.Second)
	s.announce("c")
	if stats, _ := s.stats(); stats.Workers != 1 || stats.SlotUse.Slots != 10 || !slices.Equal(stats.Handlers, []core.TypeCount{{Type: "c", N: 1}}) {
		s.Errorf("%d workers: %+v, want one", stats.Workers, stats.Handlers)
	}
}

func maintainWorkers(s *stage) {
	f, old := worker("f"), worker("old")
	f.Function = true
	s.must(s.store.Announce(s.ctx, f))
	s.must(s.store.Announce(s.ctx, old))
	s.submitMany(1, "f")
	maintain := func() {
		_, err := s.store.Maintain(s.ctx, core.MaintainRequest{})
		s.must(err)
	}
	s.advance(core.FunctionKeep - time.Hour)
	maintain()
	if stats, _ := s.stats(); stats.Unhandled != 0 {
		s.Error("a function was forgotten too soon")
	}
	s.advance(2 * time.Hour)
	maintain()
	if stats, _ := s.stats(); stats.Unhandled != 1 {
		s.Error("a function that is gone for a month still counts")
	}
}
