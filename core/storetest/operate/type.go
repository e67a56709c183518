package operate

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func typeScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "PutType/keeps every field and its own times", Run: typeKept},
		{Name: "PutType/replaces the whole definition and keeps its beginning", Run: typeReplaced},
		{Name: "PutType/leaves announcements and unhandled marks as they are", Run: typeBesideMarks},
		{Name: "PutType/one of many concurrent calls for a type creates it", Run: typeRace},
		{Name: "PutType/a type beyond the maximum number is refused and existing ones can be changed", Run: typeFull},
		{Name: "GetType/a type that is only announced or marked has no definition", Run: typeMissing},
		{Name: "ListTypes/pages by name and lists definitions only", Run: typeList},
		{Name: "DeleteType/removes the definition and nothing else", Run: typeDeleted},
		{Name: "MarkDelivered/may be repeated and outlives the definition", Run: typeMarked},
		{Name: "MarkDelivered/marks none if all would be too many", Run: typeMarkedFull},
		{Name: "Types/returns every definition and every mark", Run: typeAll},
	}
}

func types(s *storetest.Stage) []core.JobType {
	s.Helper()
	types, err := s.Store.Types(s.Ctx)
	s.Must(err)
	slices.SortFunc(types, func(a, b core.JobType) int { return strings.Compare(a.Name, b.Name) })
	return types
}

func namesOf(types []core.JobType) []string {
	names := make([]string, len(types))
	for i := range types {
		names[i] = types[i].Name
	}
	return names
}

// sameType checks that a definition equals want, except for its times and marks.
func sameType(s *storetest.Stage, what string, got, want core.JobType) {
	s.Helper()
	want.CreatedAt, want.UpdatedAt, want.Delivered, want.Defined = got.CreatedAt, got.UpdatedAt, got.Delivered, true
	if !reflect.DeepEqual(got, want) {
		s.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func typeKept(s *storetest.Stage) {
	other := s.Second()
	for _, want := range []core.JobType{storetest.AType("a"), {Name: "b"}, {Name: "ein Typ/é \"'%\\"}, {Name: "c", Target: []byte(storetest.ATarget)}} {
		now := s.Now()
		kept, made := s.PutType(want)
		if sameType(s, "the answer", kept, want); !made || kept.Delivered {
			s.Errorf("made %t, delivered %t, want a new one", made, kept.Delivered)
		}
		if kept.CreatedAt.Sub(now).Abs() > storetest.Patience || !kept.CreatedAt.Equal(kept.UpdatedAt) || kept.CreatedAt.Location() != time.UTC {
			s.Errorf("created %s, updated %s, want both %s", kept.CreatedAt, kept.UpdatedAt, now)
		}
		got, err := other.Store.GetType(s.Ctx, want.Name)
		if s.Must(err); !reflect.DeepEqual(got, kept) {
			s.Errorf("got %+v, want %+v", got, kept)
		}
	}
}

func typeReplaced(s *storetest.Stage) {
	first, _ := s.PutType(storetest.AType("a"))
	s.Advance(time.Hour)
	for _, next := range []core.JobType{{Name: "a", MaxAttempts: 1}, {Name: "a"}, storetest.AType("a")} {
		kept, made := s.PutType(next)
		sameType(s, "replaced", kept, next)
		if made || !kept.CreatedAt.Equal(first.CreatedAt) || kept.UpdatedAt.Sub(first.UpdatedAt) < time.Hour {
			s.Errorf("made %t, created %s, updated %s; the first was of %s", made, kept.CreatedAt, kept.UpdatedAt, first.CreatedAt)
		}
		got, err := s.Store.GetType(s.Ctx, "a")
		if s.Must(err); !reflect.DeepEqual(got, kept) {
			s.Errorf("got %+v, want %+v", got, kept)
		}
	}
}

// typeBesideMarks defines, marks and deletes types that are announced or unhandled. The tick's knowledge of them does not
// change.
func typeBesideMarks(s *storetest.Stage) {
	s.SubmitMany(1, "a")
	s.Must(s.Store.Unhandled(s.Ctx, storetest.RefsOf(s.Dispatch("a", 1))))
	s.Announce("b")
	s.SubmitMany(1, "b")
	acts := []func(name string) error{
		func(name string) error { _, _, err := s.Store.PutType(s.Ctx, storetest.AType(name)); return err },
		func(name string) error { return s.Store.MarkDelivered(s.Ctx, []string{name}) },
		func(name string) error { return s.Store.DeleteType(s.Ctx, name) },
	}
	for i, act := range acts {
		s.Must(act("a"))
		s.Must(act("b"))
		if s.Waits("a") || !s.Waits("b") {
			s.Fatalf("after act %d: a waits %t, b waits %t; want the mark of a and no other", i, s.Waits("a"), s.Waits("b"))
		}
	}
	s.Announce("a")
	if !s.Waits("a") {
		s.Error("announced, a is not named")
	}
	s.PutType(storetest.AType("a"))
	s.Must(s.Store.Withdraw(s.Ctx, storetest.Worker("a").ID))
	s.Must(s.Store.Unhandled(s.Ctx, storetest.RefsOf(s.Dispatch("a", 1))))
	if got, err := s.Store.GetType(s.Ctx, "a"); err != nil || s.Waits("a") || got.MaxAttempts != 7 || !got.Delivered {
		s.Errorf("after a refusal: %+v, %v", got, err)
	}
}

func typeRace(s *storetest.Stage) {
	handles := []*storetest.Stage{s, s.Second()}
	var mu sync.Mutex
	mades := 0
	var acts []func() error
	for i := range 16 {
		acts = append(acts, func() error {
			_, made, err := handles[i%2].Store.PutType(s.Ctx, core.JobType{Name: "a", MaxAttempts: i + 1})
			mu.Lock()
			defer mu.Unlock()
			if made {
				mades++
			}
			return err
		}, func() error { return handles[i%2].Store.MarkDelivered(s.Ctx, []string{"b", "a"}) })
	}
	s.Together(acts...)
	types := types(s)
	if mades != 1 || !slices.Equal(namesOf(types), []string{"a", "b"}) || !types[0].Delivered || !types[0].Defined || types[1].Defined {
		s.Fatalf("%d made it; %+v", mades, types)
	}
}

func refusedTypes(err error) bool {
	var fault *core.FieldError
	return errors.As(err, &fault) && fault.Field == "type"
}

func typeFull(s *storetest.Stage) {
	s.PutType(storetest.AType("a"))
	s.Must(s.Store.MarkDelivered(s.Ctx, storetest.ManyNames(core.MaxTypes-1)))
	if _, _, err := s.Store.PutType(s.Ctx, core.JobType{Name: "b"}); !refusedTypes(err) {
		s.Fatalf("want the type refused by name, got %v", err)
	}
	if _, err := s.Store.GetType(s.Ctx, "b"); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("what was refused: %v", err)
	}
	if _, made := s.PutType(core.JobType{Name: "a"}); made {
		s.Error("a definition that was there is said to be new")
	}
	if _, made := s.PutType(core.JobType{Name: storetest.ManyNames(1)[0]}); !made {
		s.Error("the definition of a marked type is not said to be new")
	}
	s.Must(s.Store.DeleteType(s.Ctx, "a"))
	s.PutType(core.JobType{Name: "b"})
	if err := s.Store.MarkDelivered(s.Ctx, []string{"c", core.AlertType}); !refusedTypes(err) {
		s.Errorf("a caller's type when the maximum is reached: %v", err)
	}
	if n := len(types(s)); n != core.MaxTypes {
		s.Errorf("%d types are kept, want %d", n, core.MaxTypes)
	}
	s.Must(s.Store.MarkDelivered(s.Ctx, []string{core.AlertType})) // alerts are delivered even if callers use the maximum number of types
	if err := s.Store.MarkDelivered(s.Ctx, []string{"c"}); !refusedTypes(err) {
		s.Errorf("a caller's type beyond the bound: %v", err)
	}
}

func typeMissing(s *storetest.Stage) {
	s.Announce("a")
	s.Must(s.Store.MarkDelivered(s.Ctx, []string{"b"}))
	s.SubmitMany(1, "c")
	for _, name := range []string{"a", "b", "c", ""} {
		if got, err := s.Store.GetType(s.Ctx, name); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("GetType of %q: %+v, %v", name, got, err)
		}
		if err := s.Store.DeleteType(s.Ctx, name); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("DeleteType of %q: %v", name, err)
		}
	}
}

func typeList(s *storetest.Stage) {
	want := []string{"A", "B", "a", "a b", "a-b", "ab", "b", "é"} // by bytes
	for _, name := range []string{"é", "b", "B", "ab", "a b", "A", "a-b", "a"} {
		s.PutType(core.JobType{Name: name})
	}
	s.Announce("aa")
	s.Must(s.Store.MarkDelivered(s.Ctx, []string{"aaa", "b"}))
	for _, limit := range []int{1, 3, 8, 100} {
		var got []string
		for after := ""; ; {
			page, err := s.Store.ListTypes(s.Ctx, after, limit)
			if s.Must(err); len(page) > limit {
				s.Fatalf("a page of %d has %d", limit, len(page))
			}
			if got = append(got, namesOf(page)...); len(page) < limit {
				break
			}
			after = got[len(got)-1]
		}
		if !slices.Equal(got, want) {
			s.Errorf("by %d: got %q, want %q", limit, got, want)
		}
	}
}

func typeDeleted(s *storetest.Stage) {
	id := s.SubmitOne(core.NewJob{Type: "a"})
	s.PutType(storetest.AType("a"))
	s.PutType(storetest.AType("b"))
	before := s.Get(id)
	s.Must(s.Store.DeleteType(s.Ctx, "a"))
	s.Unchanged(before)
	if _, err := s.Store.GetType(s.Ctx, "a"); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("after its end: %v", err)
	}
	if err := s.Store.DeleteType(s.Ctx, "a"); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("deleted twice: %v", err)
	}
	if got := namesOf(types(s)); !slices.Equal(got, []string{"b"}) {
		s.Errorf("left: %q", got)
	}
	kept, made := s.PutType(core.JobType{Name: "a"})
	if sameType(s, "made again", kept, core.JobType{Name: "a"}); !made {
		s.Error("a deleted definition was replaced, not made")
	}
}

func typeMarked(s *storetest.Stage) {
	s.Must(s.Store.MarkDelivered(s.Ctx, nil))
	for range 2 {
		s.Must(s.Store.MarkDelivered(s.Ctx, []string{"b", "a", "b"}))
	}
	s.PutType(storetest.AType("a"))
	for range 2 {
		types := types(s)
		if len(types) != 2 || !types[0].Delivered || !types[1].Delivered || types[1].Defined {
			s.Fatalf("marked a and b, got %+v", types)
		}
		if got, err := s.Store.GetType(s.Ctx, "a"); err == nil && !got.Delivered {
			s.Error("the definition does not tell of the mark")
		}
		if err := s.Store.DeleteType(s.Ctx, "a"); err != nil && !errors.Is(err, core.ErrNotFound) {
			s.Fatal(err)
		}
	}
}

func typeMarkedFull(s *storetest.Stage) {
	s.PutType(storetest.AType("a"))
	many := storetest.ManyNames(core.MaxTypes)
	if err := s.Store.MarkDelivered(s.Ctx, many); !refusedTypes(err) {
		s.Fatalf("want them refused by name, got %v", err)
	}
	if got := namesOf(types(s)); !slices.Equal(got, []string{"a"}) {
		s.Fatalf("of a call that was refused %d types are kept", len(got)-1)
	}
	s.Must(s.Store.MarkDelivered(s.Ctx, many[1:]))
	s.Must(s.Store.MarkDelivered(s.Ctx, append([]string{"a"}, many[1:]...)))
	if err := s.Store.MarkDelivered(s.Ctx, many[:1]); !refusedTypes(err) {
		s.Errorf("one more: %v", err)
	}
}

func typeAll(s *storetest.Stage) {
	if types := types(s); len(types) != 0 {
		s.Fatalf("an empty database has %+v", types)
	}
	a, _ := s.PutType(storetest.AType("a"))
	c, _ := s.PutType(core.JobType{Name: "c"})
	s.Must(s.Store.MarkDelivered(s.Ctx, []string{"b", "c"}))
	s.Announce("d", "a")
	c.Delivered = true
	if want, got := []core.JobType{a, {Name: "b", Delivered: true}, c}, types(s.Second()); !reflect.DeepEqual(got, want) {
		s.Errorf("got %+v\nwant %+v", got, want)
	}
}
