package gather_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core/gather"
)

// source is a queue: each fetch returns the next of answers, or nothing after a long poll of 20 s.
type source struct {
	answers chan []int
	failure chan error
	stop    chan struct{}

	mu      sync.Mutex
	fetches []int // the maximum of each fetch
	back    []int
}

func newSource() (*source, *gather.Poll[int]) {
	s := &source{answers: make(chan []int), failure: make(chan error), stop: make(chan struct{})}
	return s, gather.NewPoll(s.fetch, func(given []int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.back = append(s.back, given...)
	})
}

func (s *source) fetch(max int) ([]int, error) {
	s.mu.Lock()
	s.fetches = append(s.fetches, max)
	s.mu.Unlock()
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

// seen returns the fetches and the messages given back so far.
func (s *source) seen() (fetches, back []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fetches, s.back
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
		if err != nil || !slices.Equal(got, []int{1, 2}) {
			t.Errorf("got %v, %v; want two messages", got, err)
		}
		p.End()
		if fetches, _ := s.seen(); !slices.Equal(fetches, []int{7, 7, 7, 7}) {
			t.Errorf("fetches of %v; want four", fetches)
		}
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
		if err != nil || !slices.Equal(got, []int{1, 2}) {
			t.Errorf("got %v, %v; want two", got, err)
		}
		p.End()
		if fetches, back := s.seen(); !slices.Equal(back, []int{3}) || len(fetches) != 1 {
			t.Errorf("given back: %v, want what is more than asked for; %d fetches, want one", back, len(fetches))
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
		p.End()
		if _, back := s.seen(); !slices.Equal(back, []int{1, 2}) {
			t.Errorf("given back: %v, want both", back)
		}
		if _, err := waitFor(p, 1, time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		close(s.stop)
		p.End()
		if fetches, _ := s.seen(); len(fetches) != 2 {
			t.Errorf("%d fetches; want a second one", len(fetches))
		}
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
		p.End()
		if fetches, _ := s.seen(); time.Since(began) != 19*time.Second || len(fetches) != 2 {
			t.Errorf("ended after %s and %d fetches; want with the long poll, and no other", time.Since(began), len(fetches))
		}
	})
}
