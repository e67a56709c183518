package gather_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core/gather"
)

// source is a queue: each fetch waits for one answer of answers, or returns nothing after its long poll of 20 s.
type source struct {
	answers chan []int
	failure chan error
	stop    chan struct{}
	fetches []int // what each asked for
	back    []int
}

func newSource() (*source, *gather.Poll[int]) {
	s := &source{answers: make(chan []int), failure: make(chan error), stop: make(chan struct{})}
	return s, gather.NewPoll(s.fetch, func(given []int) { s.back = append(s.back, given...) })
}

func (s *source) fetch(most int) ([]int, error) {
	s.fetches = append(s.fetches, most)
	select {
	case got := <-s.answers:
		return got, nil
	case err := <-s.failure:
		return nil, err
	case <-time.After(20 * time.Second):
		return nil, nil
	case <-s.stop:
		return nil, errors.New("cut off")
	}
}

func waitFor(p *gather.Poll[int], max int, patience time.Duration) ([]int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return p.Wait(ctx, max)
}

func TestPollAsksAgainWhileSomeoneWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newSource()
		time.AfterFunc(70*time.Second, func() { s.answers <- []int{1, 2} })
		got, err := waitFor(p, 7, time.Hour)
		if err != nil || !slices.Equal(got, []int{1, 2}) || !slices.Equal(s.fetches, []int{7, 7, 7, 7}) {
			t.Errorf("got %v, %v by fetches of %v; want two messages by the fourth", got, err, s.fetches)
		}
		p.End()
	})
}

func TestWhoWaitsNextWaitsForTheSameCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newSource()
		if _, err := waitFor(p, 3, time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, func() { s.answers <- []int{1, 2, 3} })
		got, err := waitFor(p, 2, time.Minute)
		if err != nil || !slices.Equal(got, []int{1, 2}) || len(s.fetches) != 1 {
			t.Errorf("got %v, %v by %d fetches; want two by one", got, err, len(s.fetches))
		}
		if p.End(); !slices.Equal(s.back, []int{3}) {
			t.Errorf("given back: %v, want what is more than asked for", s.back)
		}
	})
}

func TestWhatComesWhileNobodyWaitsIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newSource()
		if _, err := waitFor(p, 3, time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		s.answers <- []int{1, 2}
		if p.End(); !slices.Equal(s.back, []int{1, 2}) {
			t.Errorf("given back: %v, want both", s.back)
		}
		if _, err := waitFor(p, 1, time.Second); !errors.Is(err, context.DeadlineExceeded) || len(s.fetches) != 2 {
			t.Errorf("%v after %d fetches; want a second one", err, len(s.fetches))
		}
		close(s.stop)
		p.End()
	})
}

func TestPollTellsOfItsFailureAndEndsWithNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := newSource()
		broken := errors.New("broken")
		time.AfterFunc(time.Second, func() { s.failure <- broken })
		if _, err := waitFor(p, 3, time.Minute); !errors.Is(err, broken) {
			t.Error(err)
		}
		if _, err := waitFor(p, 3, time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		began := time.Now()
		if p.End(); time.Since(began) != 19*time.Second || len(s.fetches) != 2 {
			t.Errorf("ended after %s and %d fetches; want with the long poll, and no other", time.Since(began), len(s.fetches))
		}
	})
}
