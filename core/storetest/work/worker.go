package work

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func workerScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "Announce/a worker lives for 90 s and handles what it said last", Run: announceAges},
		{Name: "Announce/many workers handle what any of them does", Run: announceMany},
		{Name: "Announce/a delivering worker handles types that have targets", Run: announceDelivers},
		{Name: "Announce/odd names and thousands of types come back", Run: announceOdd},
		{Name: "Withdraw/a worker is gone at once, and an unknown one changes nothing", Run: withdrawGone},
		{Name: "Tick/only what a live consumer handles is waiting, unless asked otherwise", Run: tickConsumers},
		{Name: "Tick/an older program that announced a type may still handle it", Run: tickEarlier},
		{Name: "Unhandled/marks nothing while a live worker handles the type", Run: unhandledElsewhere},
		{Name: "Stats/a type whose last worker went away is unhandled 90 s later, due or queued", Run: statsGone},
		{Name: "Stats/a function handles its types however long nothing invoked it, until a job comes back", Run: statsFunction},
		{Name: "Stats/live workers are counted, by type too", Run: statsWorkers},
		{Name: "Maintain/forgets workers that are long gone", Run: maintainWorkers},
	}
}

// fleet returns what the workers handle: types in order, and "delivers".
func fleet(s *storetest.Stage) []string {
	s.Helper()
	f, err := s.Store.Fleet(s.Ctx)
	s.Must(err)
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

func handled(s *storetest.Stage, when string, want ...string) {
	s.Helper()
	if got := fleet(s); !slices.Equal(got, want) {
		s.Errorf("%s: %q is handled, want %q", when, got, want)
	}
}

// announcedLanes returns the types that a tick lists if it only publishes announced types.
func announcedLanes(s *storetest.Stage) []string {
	s.Helper()
	req := storetest.TickRequest("holder-1")
	req.Unannounced = false
	var types []string
	for _, l := range s.Tick(req).Waiting {
		types = append(types, l.Type)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

func announceAges(s *storetest.Stage) {
	handled(s, "at first")
	w := storetest.Worker("a", "b")
	s.Must(s.Store.Announce(s.Ctx, w))
	handled(s.Second(), "announced", "a", "b")
	s.Advance(core.PresenceTTL - 10*time.Second)
	handled(s, "soon", "a", "b")
	w.Types = []string{"b", "c"}
	s.Must(s.Store.Announce(s.Ctx, w))
	handled(s, "said anew", "b", "c")
	s.Advance(core.PresenceTTL - 10*time.Second)
	handled(s, "90 s after the first", "b", "c")
	s.Advance(11 * time.Second)
	handled(s, "90 s after the last")
	s.Must(s.Store.Announce(s.Ctx, w))
	handled(s, "back", "b", "c")
}

func announceMany(s *storetest.Stage) {
	handles := []*storetest.Stage{s, s.Second()}
	s.Times(40, func(i int) error {
		w := storetest.Worker("common", []string{"x", "y", "z"}[i%3])
		w.ID = string(rune('A' + i%20))
		return handles[i%2].Store.Announce(s.Ctx, w)
	})
	got := fleet(s)
	for _, t := range []string{"common", "x"} {
		if !slices.Contains(got, t) {
			s.Errorf("%s is not handled: %q", t, got)
		}
	}
	direct := storetest.Worker("direct")
	direct.Queues = false
	s.Must(s.Store.Announce(s.Ctx, direct))
	if slices.Contains(fleet(s), "direct") {
		s.Error("a worker that claims from the table counts as a consumer of queues")
	}
}

func announceDelivers(s *storetest.Stage) {
	s.PutType(storetest.AType("target"))
	s.Must(s.Store.MarkDelivered(s.Ctx, []string{"own targets"}))
	s.PutType(core.JobType{Name: "plain", MaxAttempts: 3})
	for _, t := range []string{"target", "own targets", "plain"} {
		s.SubmitMany(1, t)
	}
	if got := announcedLanes(s); got != nil {
		s.Errorf("without a worker %q are named", got)
	}
	w := storetest.Worker()
	w.Delivers = true
	s.Must(s.Store.Announce(s.Ctx, w))
	handled(s, "announced", "delivers")
	if got := announcedLanes(s); !slices.Equal(got, []string{"own targets", "target"}) {
		s.Errorf("%q are named", got)
	}
	// If workers only deliver, nobody handles a job without a target, even if other jobs of its type have one.
	s.Submit(core.NewJob{Type: "own targets", Target: []byte(storetest.ATarget)}, core.NewJob{Type: "own targets", Tenant: "t"}, core.NewJob{Type: "own targets", Delay: time.Hour})
	told := func(when string, want ...core.TypeCount) {
		s.Helper()
		if stats, _ := s.Stats(); stats.Unhandled != want[0].N+want[1].N || !reflect.DeepEqual(stats.UnhandledTypes, want) {
			s.Errorf("%s: unhandled are %d: %+v", when, stats.Unhandled, stats.UnhandledTypes)
		}
	}
	told("waiting", core.TypeCount{Type: "own targets", N: 2}, core.TypeCount{Type: "plain", N: 1})
	s.Dispatch("own targets", 3)
	told("queued", core.TypeCount{Type: "own targets", N: 2}, core.TypeCount{Type: "plain", N: 1})
	s.Must(s.Store.Unhandled(s.Ctx, storetest.RefsOf(s.Dispatch("target", 1))))
	if !slices.Contains(announcedLanes(s), "target") {
		s.Error("a type that a live worker delivers is marked as unhandled")
	}
}

func announceOdd(s *storetest.Stage) {
	odd := []string{"", "a'b", "\"{}\\,", "NULL", "é 漢字", strings.Repeat("x", 200)}
	w := storetest.Worker(odd...)
	w.ID, w.Host, w.Version = "an 'odd' \"id\"", "host\\é", "v1.2.3"
	s.Must(s.Store.Announce(s.Ctx, w))
	got := fleet(s)
	if want := slices.Sorted(slices.Values(odd)); !slices.Equal(got, want) {
		s.Errorf("got %q, want %q", got, want)
	}
	s.Must(s.Store.Withdraw(s.Ctx, w.ID))
	w.Types = storetest.ManyNames(5_000)
	s.Must(s.Store.Announce(s.Ctx, w))
	if got := fleet(s); len(got) != 5_000 {
		s.Errorf("%d of 5,000 types came back", len(got))
	}
}

func withdrawGone(s *storetest.Stage) {
	s.Announce("a")
	s.Announce("b")
	s.Must(s.Store.Withdraw(s.Ctx, "nobody"))
	s.Must(s.Store.Withdraw(s.Ctx, storetest.Worker("a").ID))
	handled(s, "withdrawn", "b")
	s.Must(s.Store.Withdraw(s.Ctx, storetest.Worker("a").ID))
	s.Announce("a")
	handled(s, "back", "a", "b")
}

func tickConsumers(s *storetest.Stage) {
	for _, t := range []string{"a", "b", "c", "d"} {
		s.SubmitMany(2, t)
	}
	named := func(when string, want ...string) {
		s.Helper()
		if got := announcedLanes(s); !slices.Equal(got, want) {
			s.Errorf("%s: %q are named, want %q", when, got, want)
		}
	}
	named("without a worker")
	s.Announce("a")
	direct := storetest.Worker("b")
	direct.Queues = false
	s.Must(s.Store.Announce(s.Ctx, direct))
	function := storetest.Worker("c")
	function.Function = true
	s.Must(s.Store.Announce(s.Ctx, function))
	named("one of each", "a", "c")
	req := storetest.TickRequest("holder-1")
	if n := len(s.Tick(req).Waiting); n != 4 {
		s.Errorf("asked for unannounced types too, %d are named", n)
	}
	req.Dispatch, req.Unannounced = false, false
	if n := len(s.Tick(req).Waiting); n != 4 {
		s.Errorf("without a queue %d are named", n)
	}
	s.Advance(core.PresenceTTL + time.Second)
	named("90 s later")
}

func tickEarlier(s *storetest.Stage) {
	db, can := s.DB.(storetest.EarlierAnnouncer)
	if !can {
		s.Skip("this store has no program of before")
	}
	s.SubmitMany(3, "a")
	db.AnnounceEarlier(s.T, "a")
	if got := announcedLanes(s); !slices.Equal(got, []string{"a"}) {
		s.Errorf("%q are named", got)
	}
	if stats, _ := s.Stats(); stats.Unhandled != 0 {
		s.Errorf("%d are unhandled", stats.Unhandled)
	}
	s.Must(s.Store.Unhandled(s.Ctx, storetest.RefsOf(s.Dispatch("a", 1))))
	if stats, _ := s.Stats(); announcedLanes(s) != nil || stats.Unhandled != 3 {
		s.Errorf("after one came back: named are %q, %d unhandled", announcedLanes(s), stats.Unhandled)
	}
	s.Announce("a") // by a current program: from here on it is known whether the worker lives
	s.Advance(core.PresenceTTL + time.Second)
	if stats, _ := s.Stats(); announcedLanes(s) != nil || stats.Unhandled != 3 {
		s.Errorf("its worker gone: named are %q, %d unhandled", announcedLanes(s), stats.Unhandled)
	}
}

func unhandledElsewhere(s *storetest.Stage) {
	s.Announce("a")
	queued := append(s.Queue(2, "a"), s.Queue(2, "b")...)
	s.Must(s.Store.Unhandled(s.Ctx, storetest.RefsOf(queued)))
	for _, job := range queued {
		if got := s.Get(job.ID); got.Status != core.Scheduled || got.LeaseToken != job.LeaseToken+1 || got.Attempts != 0 {
			s.Errorf("want it scheduled under the next token without an attempt: %+v", got)
		}
	}
	if !s.Waits("a") || s.Waits("b") {
		s.Errorf("a, which has a handler, waits: %t; b, which has none: %t", s.Waits("a"), s.Waits("b"))
	}
	s.Announce("b")
	if !s.Waits("b") {
		s.Error("announced, b does not wait")
	}
	// A live worker overrides an earlier mark.
	s.Must(s.Store.Withdraw(s.Ctx, storetest.Worker("b").ID))
	s.Must(s.Store.Unhandled(s.Ctx, storetest.RefsOf(s.Dispatch("b", 1))))
	late := storetest.Worker("b")
	late.ID = "late"
	s.Must(s.Store.Announce(s.Ctx, late))
	if got := announcedLanes(s); !slices.Equal(got, []string{"a", "b"}) {
		s.Errorf("named are %q", got)
	}
}

func statsGone(s *storetest.Stage) {
	s.Announce("a")
	direct := storetest.Worker("b")
	direct.Queues = false
	s.Must(s.Store.Announce(s.Ctx, direct))
	s.Put(core.Running, core.NewJob{Type: "a"})
	s.Queue(2, "a")
	s.SubmitMany(3, "a")
	s.SubmitMany(2, "b")
	s.SubmitOne(core.NewJob{Type: "a", Delay: time.Hour})
	unhandled := func(when string, want ...core.TypeCount) {
		s.Helper()
		sum := 0
		for _, u := range want {
			sum += u.N
		}
		if stats, _ := s.Stats(); stats.Unhandled != sum || !slices.Equal(stats.UnhandledTypes, want) {
			s.Errorf("%s: %d unhandled, %+v; want %+v", when, stats.Unhandled, stats.UnhandledTypes, want)
		}
	}
	unhandled("while both live")
	s.Must(s.Store.Withdraw(s.Ctx, direct.ID))
	unhandled("one has left", core.TypeCount{Type: "b", N: 2})
	s.Advance(core.PresenceTTL + time.Second)
	unhandled("the other has died", core.TypeCount{Type: "a", N: 5}, core.TypeCount{Type: "b", N: 2})
	s.Announce("a")
	unhandled("it is back", core.TypeCount{Type: "b", N: 2})
}

func statsFunction(s *storetest.Stage) {
	f := storetest.Worker("a")
	f.Function = true
	s.Must(s.Store.Announce(s.Ctx, f))
	s.SubmitMany(3, "a")
	unhandled := func(when string, want int) {
		s.Helper()
		if stats, _ := s.Stats(); stats.Unhandled != want {
			s.Errorf("%s: %d unhandled, want %d", when, stats.Unhandled, want)
		}
	}
	s.Advance(48 * time.Hour)
	unhandled("two days later", 0)
	if !s.Waits("a") {
		s.Error("two days later it is not published, and so would never be invoked")
	}
	s.Must(s.Store.Unhandled(s.Ctx, storetest.RefsOf(s.Dispatch("a", 1))))
	unhandled("one came back", 3)
	if s.Waits("a") {
		s.Error("one came back, and it is published again at once")
	}
	s.Advance(31 * time.Second)
	unhandled("the mark ran out", 3)
	if !s.Waits("a") {
		s.Error("the mark ran out, and it is not tried again")
	}
	s.Must(s.Store.Announce(s.Ctx, f))
	s.Advance(time.Hour)
	unhandled("it said that it is there", 0)
}

func statsWorkers(s *storetest.Stage) {
	for _, id := range []string{"1", "2", "3"} {
		w := storetest.Worker("a", "b")
		w.ID = id
		s.Must(s.Store.Announce(s.Ctx, w))
	}
	direct := storetest.Worker("b", "c")
	direct.Queues = false
	s.Must(s.Store.Announce(s.Ctx, direct))
	want := []core.TypeCount{{Type: "a", N: 3}, {Type: "b", N: 4}, {Type: "c", N: 1}}
	if stats, _ := s.Stats(); stats.Workers != 4 || !slices.Equal(stats.Handlers, want) {
		s.Errorf("%d workers: %+v, want 4: %+v", stats.Workers, stats.Handlers, want)
	}
	if stats, _ := s.Stats(); stats.SlotUse != (core.SlotUse{Slots: 40, Busy: 28, DeliverySlots: 20, Deliveries: 12}) {
		s.Errorf("slots %+v", stats.SlotUse)
	}
	s.Advance(core.PresenceTTL + time.Second)
	s.Announce("c")
	if stats, _ := s.Stats(); stats.Workers != 1 || stats.SlotUse.Slots != 10 || !slices.Equal(stats.Handlers, []core.TypeCount{{Type: "c", N: 1}}) {
		s.Errorf("%d workers: %+v, want one", stats.Workers, stats.Handlers)
	}
}

func maintainWorkers(s *storetest.Stage) {
	f, old := storetest.Worker("f"), storetest.Worker("old")
	f.Function = true
	s.Must(s.Store.Announce(s.Ctx, f))
	s.Must(s.Store.Announce(s.Ctx, old))
	s.SubmitMany(1, "f")
	maintain := func() {
		_, err := s.Store.Maintain(s.Ctx, core.MaintainRequest{})
		s.Must(err)
	}
	s.Advance(core.FunctionKeep - time.Hour)
	maintain()
	if stats, _ := s.Stats(); stats.Unhandled != 0 {
		s.Error("a function was forgotten too soon")
	}
	s.Advance(2 * time.Hour)
	maintain()
	if stats, _ := s.Stats(); stats.Unhandled != 1 {
		s.Error("a function that is gone for a month still counts")
	}
}
