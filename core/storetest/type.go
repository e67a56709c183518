package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func typeScenarios() []scenario {
	return []scenario{
		{"PutType/keeps every field and its own times", typeKept},
		{"PutType/replaces the whole definition and keeps its beginning", typeReplaced},
		{"PutType/leaves announcements and unhandled marks as they are", typeBesideMarks},
		{"PutType/of many at once for one type one made it", typeRace},
		{"PutType/a type beyond the greatest number is refused and those there can be changed", typeFull},
		{"GetType/a type that is only announced or marked has no definition", typeMissing},
		{"ListTypes/pages by name and lists definitions only", typeList},
		{"DeleteType/removes the definition and nothing else", typeDeleted},
		{"MarkDelivered/may be repeated and outlives the definition", typeMarked},
		{"MarkDelivered/marks all or none where they would be too many", typeMarkedFull},
		{"Types/returns every definition and every mark", typeAll},
	}
}

const aTarget = `{"url":"https://example.com/a?b=%20", "headers": {"x-a": "\u00e9 1e5"}}`

// aType is a definition with every field set.
func aType(name string) core.JobType {
	return core.JobType{Name: name, Target: []byte(aTarget), Timeout: 90*time.Second + time.Microsecond, MaxAttempts: 7,
		Backoff: []time.Duration{0, time.Second, 720 * time.Hour}, ExpiresAfter: 2*time.Hour + time.Microsecond, ExpectWithin: 9600 * time.Hour}
}

func (s *stage) putType(t core.JobType) (kept core.JobType, made bool) {
	s.Helper()
	kept, made, err := s.store.PutType(s.ctx, t)
	s.must(err)
	return kept, made
}

func (s *stage) types() []core.JobType {
	s.Helper()
	types, err := s.store.Types(s.ctx)
	s.must(err)
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

// sameType wants a definition to be want but for its times and marks.
func (s *stage) sameType(what string, got, want core.JobType) {
	s.Helper()
	want.CreatedAt, want.UpdatedAt, want.Delivered, want.Defined = got.CreatedAt, got.UpdatedAt, got.Delivered, true
	if !reflect.DeepEqual(got, want) {
		s.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func typeKept(s *stage) {
	other := s.second()
	for _, want := range []core.JobType{aType("a"), {Name: "b"}, {Name: "ein Typ/é \"'%\\"}, {Name: "c", Target: []byte(aTarget)}} {
		now := s.now()
		kept, made := s.putType(want)
		if s.sameType("the answer", kept, want); !made || kept.Delivered {
			s.Errorf("made %t, delivered %t, want a new one", made, kept.Delivered)
		}
		if kept.CreatedAt.Sub(now).Abs() > patience || !kept.CreatedAt.Equal(kept.UpdatedAt) || kept.CreatedAt.Location() != time.UTC {
			s.Errorf("created %s, updated %s, want both %s", kept.CreatedAt, kept.UpdatedAt, now)
		}
		got, err := other.store.GetType(s.ctx, want.Name)
		if s.must(err); !reflect.DeepEqual(got, kept) {
			s.Errorf("got %+v, want %+v", got, kept)
		}
	}
}

func typeReplaced(s *stage) {
	first, _ := s.putType(aType("a"))
	s.advance(time.Hour)
	for _, next := range []core.JobType{{Name: "a", MaxAttempts: 1}, {Name: "a"}, aType("a")} {
		kept, made := s.putType(next)
		s.sameType("replaced", kept, next)
		if made || !kept.CreatedAt.Equal(first.CreatedAt) || kept.UpdatedAt.Sub(first.UpdatedAt) < time.Hour {
			s.Errorf("made %t, created %s, updated %s; the first was of %s", made, kept.CreatedAt, kept.UpdatedAt, first.CreatedAt)
		}
		got, err := s.store.GetType(s.ctx, "a")
		if s.must(err); !reflect.DeepEqual(got, kept) {
			s.Errorf("got %+v, want %+v", got, kept)
		}
	}
}

// typeBesideMarks defines, marks and undefines types that are announced or unhandled: what the tick knows stays.
func typeBesideMarks(s *stage) {
	s.submitMany(1, "a")
	s.must(s.store.Unhandled(s.ctx, refsOf(s.dispatch("a", 1))))
	s.announce("b")
	s.submitMany(1, "b")
	acts := []func(name string) error{
		func(name string) error { _, _, err := s.store.PutType(s.ctx, aType(name)); return err },
		func(name string) error { return s.store.MarkDelivered(s.ctx, []string{name}) },
		func(name string) error { return s.store.DeleteType(s.ctx, name) },
	}
	for i, act := range acts {
		s.must(act("a"))
		s.must(act("b"))
		if s.waits("a") || !s.waits("b") {
			s.Fatalf("after act %d: a waits %t, b waits %t; want the mark of a and no other", i, s.waits("a"), s.waits("b"))
		}
	}
	s.announce("a")
	if !s.waits("a") {
		s.Error("announced, a is not named")
	}
	s.putType(aType("a"))
	s.must(s.store.Withdraw(s.ctx, worker("a").ID))
	s.must(s.store.Unhandled(s.ctx, refsOf(s.dispatch("a", 1))))
	if got, err := s.store.GetType(s.ctx, "a"); err != nil || s.waits("a") || got.MaxAttempts != 7 || !got.Delivered {
		s.Errorf("after a refusal: %+v, %v", got, err)
	}
}

func typeRace(s *stage) {
	handles := []*stage{s, s.second()}
	var mu sync.Mutex
	mades := 0
	var acts []func() error
	for i := range 16 {
		acts = append(acts, func() error {
			_, made, err := handles[i%2].store.PutType(s.ctx, core.JobType{Name: "a", MaxAttempts: i + 1})
			mu.Lock()
			defer mu.Unlock()
			if made {
				mades++
			}
			return err
		}, func() error { return handles[i%2].store.MarkDelivered(s.ctx, []string{"b", "a"}) })
	}
	s.together(acts...)
	types := s.types()
	if mades != 1 || !slices.Equal(namesOf(types), []string{"a", "b"}) || !types[0].Delivered || !types[0].Defined || types[1].Defined {
		s.Fatalf("%d made it; %+v", mades, types)
	}
}

// manyNames are n names that are not "a" or "b".
func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("many-%05d", i)
	}
	return names
}

func refusedTypes(err error) bool {
	var fault *core.FieldError
	return errors.As(err, &fault) && fault.Field == "type"
}

func typeFull(s *stage) {
	s.putType(aType("a"))
	s.must(s.store.MarkDelivered(s.ctx, manyNames(core.MaxTypes-1)))
	if _, _, err := s.store.PutType(s.ctx, core.JobType{Name: "b"}); !refusedTypes(err) {
		s.Fatalf("want the type refused by name, got %v", err)
	}
	if _, err := s.store.GetType(s.ctx, "b"); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("what was refused: %v", err)
	}
	if _, made := s.putType(core.JobType{Name: "a"}); made {
		s.Error("a definition that was there is said to be new")
	}
	if _, made := s.putType(core.JobType{Name: manyNames(1)[0]}); !made {
		s.Error("the definition of a marked type is not said to be new")
	}
	s.must(s.store.DeleteType(s.ctx, "a"))
	s.putType(core.JobType{Name: "b"})
	if err := s.store.MarkDelivered(s.ctx, []string{"c", core.AlertType}); !refusedTypes(err) {
		s.Errorf("a caller's type beside Belfry's own: %v", err)
	}
	if n := len(s.types()); n != core.MaxTypes {
		s.Errorf("%d types are kept, want %d", n, core.MaxTypes)
	}
	s.must(s.store.MarkDelivered(s.ctx, []string{core.AlertType})) // alerts are delivered however many types callers use
	if err := s.store.MarkDelivered(s.ctx, []string{"c"}); !refusedTypes(err) {
		s.Errorf("a caller's type beyond the bound: %v", err)
	}
}

func typeMissing(s *stage) {
	s.announce("a")
	s.must(s.store.MarkDelivered(s.ctx, []string{"b"}))
	s.submitMany(1, "c")
	for _, name := range []string{"a", "b", "c", ""} {
		if got, err := s.store.GetType(s.ctx, name); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("GetType of %q: %+v, %v", name, got, err)
		}
		if err := s.store.DeleteType(s.ctx, name); !errors.Is(err, core.ErrNotFound) {
			s.Errorf("DeleteType of %q: %v", name, err)
		}
	}
}

func typeList(s *stage) {
	want := []string{"A", "B", "a", "a b", "a-b", "ab", "b", "é"} // by bytes
	for _, name := range []string{"é", "b", "B", "ab", "a b", "A", "a-b", "a"} {
		s.putType(core.JobType{Name: name})
	}
	s.announce("aa")
	s.must(s.store.MarkDelivered(s.ctx, []string{"aaa", "b"}))
	for _, limit := range []int{1, 3, 8, 100} {
		var got []string
		for after := ""; ; {
			page, err := s.store.ListTypes(s.ctx, after, limit)
			if s.must(err); len(page) > limit {
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

func typeDeleted(s *stage) {
	id := s.submitOne(core.NewJob{Type: "a"})
	s.putType(aType("a"))
	s.putType(aType("b"))
	before := s.get(id)
	s.must(s.store.DeleteType(s.ctx, "a"))
	s.unchanged(before)
	if _, err := s.store.GetType(s.ctx, "a"); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("after its end: %v", err)
	}
	if err := s.store.DeleteType(s.ctx, "a"); !errors.Is(err, core.ErrNotFound) {
		s.Errorf("deleted twice: %v", err)
	}
	if got := namesOf(s.types()); !slices.Equal(got, []string{"b"}) {
		s.Errorf("left: %q", got)
	}
	kept, made := s.putType(core.JobType{Name: "a"})
	if s.sameType("made again", kept, core.JobType{Name: "a"}); !made {
		s.Error("a deleted definition was replaced, not made")
	}
}

func typeMarked(s *stage) {
	s.must(s.store.MarkDelivered(s.ctx, nil))
	for range 2 {
		s.must(s.store.MarkDelivered(s.ctx, []string{"b", "a", "b"}))
	}
	s.putType(aType("a"))
	for range 2 {
		types := s.types()
		if len(types) != 2 || !types[0].Delivered || !types[1].Delivered || types[1].Defined {
			s.Fatalf("marked a and b, got %+v", types)
		}
		if got, err := s.store.GetType(s.ctx, "a"); err == nil && !got.Delivered {
			s.Error("the definition does not tell of the mark")
		}
		if err := s.store.DeleteType(s.ctx, "a"); err != nil && !errors.Is(err, core.ErrNotFound) {
			s.Fatal(err)
		}
	}
}

func typeMarkedFull(s *stage) {
	s.putType(aType("a"))
	many := manyNames(core.MaxTypes)
	if err := s.store.MarkDelivered(s.ctx, many); !refusedTypes(err) {
		s.Fatalf("want them refused by name, got %v", err)
	}
	if got := namesOf(s.types()); !slices.Equal(got, []string{"a"}) {
		s.Fatalf("of a call that was refused %d types are kept", len(got)-1)
	}
	s.must(s.store.MarkDelivered(s.ctx, many[1:]))
	s.must(s.store.MarkDelivered(s.ctx, append([]string{"a"}, many[1:]...)))
	if err := s.store.MarkDelivered(s.ctx, many[:1]); !refusedTypes(err) {
		s.Errorf("one more: %v", err)
	}
}

func typeAll(s *stage) {
	if types := s.types(); len(types) != 0 {
		s.Fatalf("an empty database has %+v", types)
	}
	a, _ := s.putType(aType("a"))
	c, _ := s.putType(core.JobType{Name: "c"})
	s.must(s.store.MarkDelivered(s.ctx, []string{"b", "c"}))
	s.announce("d", "a")
	c.Delivered = true
	if want, got := []core.JobType{a, {Name: "b", Delivered: true}, c}, s.second().types(); !reflect.DeepEqual(got, want) {
		s.Errorf("got %+v\nwant %+v", got, want)
	}
}
