package queuetest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// deadLettersOf returns the dead letters of the default priority. It skips the case if the queue has none.
func (s *stage) deadLettersOf() func() []string {
	s.Helper()
	if s.DeadLetters == nil || s.Publish == nil {
		s.Skip("this queue has no dead letters, or the harness cannot publish a foreign body")
	}
	return func() []string {
		s.Helper()
		return s.DeadLetters(s.T, s.queue, core.Default)
	}
}

// workUntil receives messages one by one and treats each delivery as a worker would, until done returns true. It never
// cancels a Receive early, because a message that nobody gets still counts as delivered.
func (s *stage) workUntil(done func() bool, work func(core.Delivery) error) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, 4*s.Patience)
	defer cancel()
	received := make(chan core.Delivery)
	var receiver sync.WaitGroup
	receiver.Go(func() {
		defer close(received)
		for {
			got, err := s.sub.Receive(ctx, 1)
			if err != nil {
				if ctx.Err() == nil {
					s.Errorf("Receive: %v", err)
				}
				return
			}
			received <- got[0]
		}
	})
	look := time.NewTicker(s.Visibility / 4)
	defer look.Stop()
	for !done() {
		select {
		case d, open := <-received:
			if !open {
				s.Fatalf("it does not come to an end: %v", ctx.Err())
			}
			s.must(work(d))
		case <-look.C:
		}
	}
	cancel()
	for d := range received {
		s.must(work(d))
	}
	receiver.Wait()
}

// A message of a newer version, a foreign message and a damaged one end in the dead letters. The message between them is
// delivered and acknowledged as usual.
func reject(s *stage) {
	all := s.deadLettersOf()
	dead := func() []string { // distinct bodies: a message that is delivered twice may get there twice
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
