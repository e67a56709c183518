package queuetest

import (
	"context"
	"errors"
	"slices"

	"github.com/belfry-dev/belfry/core"
)

// deadLettersOf returns the dead letters of the default priority, or skips the case.
func (s *stage) deadLettersOf() func() []string {
	s.Helper()
	if s.DeadLetters == nil || s.Publish == nil {
		s.Skip("this queue has no dead letters, or the harness cannot publish a stranger's body")
	}
	return func() []string {
		s.Helper()
		return s.DeadLetters(s.T, s.queue, core.Default)
	}
}

// workUntil receives one by one and does with each delivery what the worker would, until done says so.
func (s *stage) workUntil(done func() bool, work func(core.Delivery) error) {
	s.Helper()
	whole, cancel := context.WithTimeout(s.ctx, 4*s.Patience)
	defer cancel()
	for !done() {
		ctx, cancel := context.WithTimeout(whole, s.Visibility/4)
		got, err := s.sub.Receive(ctx, 1)
		cancel()
		for _, d := range got {
			s.must(work(d))
		}
		if whole.Err() != nil || err != nil && !errors.Is(err, context.DeadlineExceeded) {
			s.Fatalf("Receive: %v", err)
		}
	}
}

// A worker that is older than its scheduler, a stranger's message and a damaged one end in the dead letters; the
// message between them is delivered and acknowledged as ever.
func reject(s *stage) {
	all := s.deadLettersOf()
	dead := func() []string { // each once: where one comes twice it may get there twice
		bodies := all()
		slices.Sort(bodies)
		return slices.Compact(bodies)
	}
	refused := []string{`{"hello": "world"}`, `{"v":99,"id":"1","token":"0","priority":"default"}`, `{"v":1,"id":"1`}
	for _, body := range refused {
		s.Publish(s.T, s.queue, core.Default, []byte(body))
	}
	s.send(s.topic, message(7))
	seen := 0
	s.workUntil(func() bool { return seen > 0 && len(dead()) >= len(refused) }, func(d core.Delivery) error {
		if m, err := core.DecodeMessage(d.Body()); err == nil {
			if seen++; m.ID != 7 {
				s.Errorf("message %d came", m.ID)
			}
			return d.Ack(s.ctx)
		}
		r, ok := d.(core.Rejecter)
		if !ok {
			s.Fatal("the queue has dead letters, and its deliveries cannot be rejected")
		}
		return r.Reject(s.ctx)
	})
	slices.Sort(refused)
	if got := dead(); !slices.Equal(got, refused) {
		s.Errorf("the dead letters are %q, want %q", got, refused)
	}
	s.nothing(s.sub, 2*s.Visibility)
}

func giveBackTooOften(s *stage) {
	dead := s.deadLettersOf()
	s.send(s.topic, message(1))
	deliveries := 0
	s.workUntil(func() bool { return len(dead()) > 0 }, func(d core.Delivery) error {
		deliveries++
		return d.Release(s.ctx, 0)
	})
	if deliveries < s.MaxDeliveries {
		s.Errorf("put aside after %d deliveries, want %d", deliveries, s.MaxDeliveries)
	}
	if got := slices.Compact(dead()); len(got) != 1 || got[0] != string(message(1).Encode()) {
		s.Errorf("the dead letters are %q", got)
	}
	s.nothing(s.sub, s.Visibility)
}
