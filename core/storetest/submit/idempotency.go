package submit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

func idempotencyScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "SubmitOnce/a repeated call gets the first answer and writes nothing", Run: onceRepeated},
		{Name: "SubmitOnce/another question under the same key is refused", Run: onceReused},
		{Name: "SubmitOnce/keys are per holder", Run: onceHolders},
		{Name: "SubmitOnce/64 calls at once make one job", Run: onceRace},
		{Name: "SubmitOnce/a key in flight is refused without waiting", Run: onceInFlight},
		{Name: "SubmitOnce/an answer that cannot be made leaves neither job nor key", Run: onceRolledBack},
		{Name: "SubmitOnce/a call that is cut off leaves both job and key or neither", Run: onceCutOff},
		{Name: "SubmitOnce/a large answer comes back byte for byte", Run: onceLarge},
		{Name: "SubmitOnce/dedupe keys hold as in Submit", Run: onceDedupe},
		{Name: "SubmitOnce/a key is forgotten after its time, and Maintain deletes it", Run: onceForgotten},
	}
}

// onceKey returns a key of a holder; what identifies the request.
func onceKey(holder, key, what string) core.IdempotencyKey {
	return core.IdempotencyKey{Holder: holder, Key: key, Hash: sha256.Sum256([]byte(what)), Keep: time.Hour}
}

// renderIDs returns the ids as an answer.
func renderIDs(answers []core.Submitted) (core.Answer, error) {
	b := []byte("ids")
	for _, a := range answers {
		b = strconv.AppendInt(append(b, ' '), a.ID, 10)
	}
	return core.Answer{Status: 201, Body: b}, nil
}

// once submits n jobs of a type under a key.
func once(s *storetest.Stage, key core.IdempotencyKey, typ string, n int) (core.Once, error) {
	jobs := make([]core.NewJob, n)
	for i := range jobs {
		jobs[i].Type = typ
	}
	return s.Store.SubmitOnce(s.Ctx, key, jobs, renderIDs)
}

// jobsOf counts the jobs of a type.
func jobsOf(s *storetest.Stage, typ string) int {
	s.Helper()
	return len(s.List(core.ListQuery{Type: typ, Limit: 1000}))
}

func onceRepeated(s *storetest.Stage) {
	typ, key := s.NewType(), onceKey("h", "k", "a")
	first, err := once(s, key, typ, 3)
	s.Must(err)
	if first.Replayed || len(first.Jobs) != 3 || first.Answer.Status != 201 || string(first.Answer.Body) != fmt.Sprintf("ids %d %d %d", first.Jobs[0].ID, first.Jobs[1].ID, first.Jobs[2].ID) {
		s.Fatalf("%+v, %q", first, first.Answer.Body)
	}
	if got := s.Get(first.Jobs[1].ID); got.Type != typ || got.Status != core.Scheduled || first.Jobs[1].Token != got.LeaseToken {
		s.Errorf("%+v", got)
	}
	for _, other := range []*storetest.Stage{s, s.Second()} {
		again, err := once(other, key, "another", 5) // the hash identifies the request, not the jobs
		s.Must(err)
		if !again.Replayed || again.Jobs != nil || again.Answer.Status != 201 || !bytes.Equal(again.Answer.Body, first.Answer.Body) {
			s.Errorf("again: %+v, %q", again, again.Answer.Body)
		}
	}
	if n := jobsOf(s, typ); n != 3 || jobsOf(s, "another") != 0 {
		s.Errorf("%d jobs", n)
	}
	if jobs := s.Claim(typ, 10); len(jobs) != 3 {
		s.Errorf("%d were claimed", len(jobs))
	}
}

func onceReused(s *storetest.Stage) {
	typ := s.NewType()
	_, err := once(s, onceKey("h", "k", "a"), typ, 1)
	s.Must(err)
	if _, err := once(s, onceKey("h", "k", "b"), typ, 1); !errors.Is(err, core.ErrKeyReused) {
		s.Errorf("another question: %v", err)
	}
	if n := jobsOf(s, typ); n != 1 {
		s.Errorf("%d jobs", n)
	}
}

func onceHolders(s *storetest.Stage) {
	typ := s.NewType()
	for _, key := range []core.IdempotencyKey{onceKey("", "k", "a"), onceKey("h", "k", "b"), onceKey("g", "k", "b"), onceKey("h", "K", "c"), onceKey("h", "k ", "d"), onceKey("hk", "", "e")} {
		if once, err := once(s, key, typ, 1); err != nil || once.Replayed {
			s.Errorf("%q of %q: %+v, %v", key.Key, key.Holder, once, err)
		}
	}
	if n := jobsOf(s, typ); n != 6 {
		s.Errorf("%d jobs", n)
	}
}

// onceRace repeats one call from 64 callers and two handles. Each gets the one answer or ErrKeyInFlight.
func onceRace(s *storetest.Stage) {
	typ, other := s.NewType(), s.Second()
	for round := range 4 {
		key := onceKey("h", fmt.Sprint(round), "a")
		var written, replayed, busy atomic.Int32
		answers := make([]string, 64)
		s.Times(len(answers), func(i int) error {
			by := s
			if i%2 == 1 {
				by = other
			}
			once, err := once(by, key, typ, 1)
			switch {
			case errors.Is(err, core.ErrKeyInFlight):
				busy.Add(1)
				return nil
			case err != nil:
				return err
			case once.Replayed:
				replayed.Add(1)
			default:
				written.Add(1)
			}
			answers[i] = string(once.Answer.Body)
			return nil
		})
		first, err := once(s, key, typ, 1)
		s.Must(err)
		for _, answer := range answers {
			if answer != "" && answer != string(first.Answer.Body) {
				s.Errorf("answers %q and %q", answer, first.Answer.Body)
			}
		}
		if n := jobsOf(s, typ); written.Load() != 1 || !first.Replayed || n != round+1 {
			s.Errorf("round %d: %d calls wrote, %d jobs", round, written.Load(), n)
		}
		s.Logf("1 written, %d replayed, %d in flight", replayed.Load(), busy.Load())
	}
}

// whileOpen runs during while a call with the key is open: its jobs are written, and it is waiting for its answer.
func whileOpen(s *storetest.Stage, key core.IdempotencyKey, typ string, during func() error) {
	if s.H.Single {
		s.Skip("this database has one writer: no other call can come between")
	}
	open, end := make(chan struct{}), make(chan struct{})
	s.Together(func() error {
		_, err := s.Store.SubmitOnce(s.Ctx, key, []core.NewJob{{Type: typ}}, func(answers []core.Submitted) (core.Answer, error) {
			close(open)
			select {
			case <-end:
			case <-s.Ctx.Done():
			}
			return renderIDs(answers)
		})
		return err
	}, func() error {
		defer close(end)
		select {
		case <-open:
		case <-s.Ctx.Done():
			return s.Ctx.Err()
		}
		return during()
	})
}

func onceInFlight(s *storetest.Stage) {
	typ, key := s.NewType(), onceKey("h", "k", "a")
	whileOpen(s, key, typ, func() error {
		for _, asked := range []string{"a", "b"} { // it is not known yet whether the requests are equal
			if _, err := once(s.Second(), onceKey("h", "k", asked), typ, 1); !errors.Is(err, core.ErrKeyInFlight) {
				return fmt.Errorf("asking %s while the first is open: %w", asked, err)
			}
		}
		_, err := once(s.Second(), onceKey("h", "other", "a"), typ, 1)
		return err
	})
	if n := jobsOf(s, typ); n != 2 {
		s.Errorf("%d jobs", n)
	}
}

func onceRolledBack(s *storetest.Stage) {
	typ, key := s.NewType(), onceKey("h", "k", "a")
	mine := errors.New("no answer")
	seen := 0
	_, err := s.Store.SubmitOnce(s.Ctx, key, []core.NewJob{{Type: typ, DedupeKey: "d"}}, func(answers []core.Submitted) (core.Answer, error) {
		seen = len(answers)
		return core.Answer{}, mine
	})
	if !errors.Is(err, mine) || seen != 1 {
		s.Errorf("%v, %d answers", err, seen)
	}
	if n := jobsOf(s, typ); n != 0 {
		s.Errorf("%d jobs", n)
	}
	if once, err := once(s, key, typ, 1); err != nil || once.Replayed {
		s.Errorf("after it: %+v, %v", once, err)
	}
	if got, err := s.Store.Submit(s.Ctx, []core.NewJob{{Type: typ, DedupeKey: "d"}}); err != nil || got[0].Existing != nil {
		s.Errorf("the dedupe key is taken: %+v, %v", got, err)
	}
	// A call without jobs only reads.
	if _, err := s.Store.SubmitOnce(s.Ctx, onceKey("h", "looked", "a"), nil, func([]core.Submitted) (core.Answer, error) { return core.Answer{}, mine }); !errors.Is(err, mine) {
		s.Errorf("a look: %v", err)
	}
	if once, err := s.Store.SubmitOnce(s.Ctx, key, nil, func([]core.Submitted) (core.Answer, error) { return core.Answer{}, mine }); err != nil || !once.Replayed {
		s.Errorf("a look at what is there: %+v, %v", once, err)
	}
}

// onceCutOff cancels calls at different moments. Repeating the call finds out whether the first one succeeded.
func onceCutOff(s *storetest.Stage) {
	const size = 100
	cut := 0
	for round := range 16 {
		typ, key := s.NewType(), onceKey("h", fmt.Sprint("cut ", round), "a")
		jobs := make([]core.NewJob, size)
		for i := range jobs {
			jobs[i].Type = typ
		}
		ctx, cancel := context.WithTimeout(s.Ctx, time.Duration(round*round)*60*time.Microsecond)
		_, err := s.Store.SubmitOnce(ctx, key, jobs, renderIDs)
		cancel()
		if err != nil {
			cut++
		}
		before := jobsOf(s, typ)
		var again core.Once
		s.Eventually("the server to end the first call", func() bool {
			again, err = s.Store.SubmitOnce(s.Ctx, key, jobs, renderIDs)
			return !errors.Is(err, core.ErrKeyInFlight)
		})
		s.Must(err)
		if after := jobsOf(s, typ); after != size || again.Replayed && before != 0 && before != size {
			s.Fatalf("%d jobs were there, now %d; replayed %t", before, after, again.Replayed)
		}
	}
	if cut == 0 {
		s.Fatal("no call was cut off: the context is ignored")
	}
}

func onceLarge(s *storetest.Stage) {
	body := []byte(strings.Repeat(`{"id":"1","payload":{"a":"\u0000é\u2028"}},`, 50_000))
	render := func([]core.Submitted) (core.Answer, error) { return core.Answer{Status: 200, Body: body}, nil }
	for _, replayed := range []bool{false, true} {
		once, err := s.Store.SubmitOnce(s.Ctx, onceKey("h", "k", "a"), []core.NewJob{{Type: "a"}}, render)
		if err != nil || once.Replayed != replayed || !bytes.Equal(once.Answer.Body, body) {
			s.Errorf("replayed %t, %d bytes, %v", once.Replayed, len(once.Answer.Body), err)
		}
	}
}

func onceDedupe(s *storetest.Stage) {
	held := s.SubmitOne(core.NewJob{Type: "a", DedupeKey: "d", Tenant: "t"})
	jobs := []core.NewJob{{Type: "a", DedupeKey: "d", Tenant: "t"}, {Type: "a", DedupeKey: "e", Tenant: "t"}, {Type: "a", DedupeKey: "e", Tenant: "t"}}
	once, err := s.Store.SubmitOnce(s.Ctx, onceKey("h", "k", "a"), jobs, renderIDs)
	s.Must(err)
	if got := once.Jobs; len(got) != 3 || got[0].Existing == nil || got[0].ID != held || got[1].Existing != nil || got[2].Existing == nil || got[2].ID != got[1].ID {
		s.Errorf("%+v", got)
	}
	if n := jobsOf(s, "a"); n != 2 {
		s.Errorf("%d jobs", n)
	}
}

func onceForgotten(s *storetest.Stage) {
	typ, key := s.NewType(), onceKey("h", "k", "a")
	_, err := once(s, key, typ, 1)
	s.Must(err)
	s.Advance(59 * time.Minute)
	_, err = s.Store.Maintain(s.Ctx, core.MaintainRequest{})
	s.Must(err)
	if once, err := once(s, key, typ, 1); err != nil || !once.Replayed {
		s.Errorf("within its time: %+v, %v", once, err)
	}
	s.Advance(2 * time.Minute)
	if once, err := once(s, onceKey("h", "k", "b"), typ, 1); err != nil || once.Replayed {
		s.Errorf("after its time, before Maintain: %+v, %v", once, err)
	}
	if once, err := once(s, onceKey("h", "k", "b"), typ, 1); err != nil || !once.Replayed {
		s.Errorf("in its new time: %+v, %v", once, err)
	}
	counter, ok := s.DB.(storetest.KeyCounter)
	if !ok {
		s.Fatal("the database does not say how many keys it has")
	}
	for i := range 20 {
		_, err := once(s, onceKey("h", fmt.Sprint("old ", i), "a"), typ, 1)
		s.Must(err)
	}
	if n := counter.Keys(s.T); n != 21 {
		s.Errorf("%d keys, want 21", n)
	}
	s.Advance(61 * time.Minute)
	_, err = once(s, onceKey("h", "new", "a"), typ, 1)
	s.Must(err)
	_, err = s.Store.Maintain(s.Ctx, core.MaintainRequest{})
	s.Must(err)
	if n := counter.Keys(s.T); n != 1 {
		s.Errorf("%d keys are left, want 1", n)
	}
}
