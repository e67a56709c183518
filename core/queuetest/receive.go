package queuetest

import (
	"context"
	"errors"
	"sync"

	"github.com/belfry-dev/belfry/core"
)

func sendBeforeOpen(s *stage) {
	s.must(s.sub.Close(s.ctx))
	s.send(s.topic, messages(3)...)
	all := s.receive(s.openSubscription(core.Default), 3)
	if got := len(s.ids(all)); got != 3 {
		s.Errorf("%d different messages of 3 came", got)
	}
}

func compete(s *stage) {
	const n = 60
	other := s.openSubscription(core.Default)
	s.send(s.topic, messages(n)...)
	var mu sync.Mutex
	seen := map[int64]int{}
	ctx, cancel := context.WithTimeout(s.ctx, s.Patience)
	defer cancel()
	var both sync.WaitGroup
	for _, sub := range []core.Subscription{s.sub, other} {
		both.Go(func() {
			for {
				got, err := sub.Receive(ctx, 5)
				if err != nil {
					return
				}
				mu.Lock()
				for _, d := range got {
					if m, err := core.DecodeMessage(d.Body()); err == nil {
						seen[m.ID]++
					}
					if err := d.Ack(s.ctx); err != nil {
						s.Errorf("ack: %v", err)
					}
				}
				if len(seen) == n {
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	both.Wait()
	twice := 0
	for _, times := range seen {
		if times > 1 {
			twice++
		}
	}
	if len(seen) != n || twice > n/2 {
		s.Errorf("%d of %d messages came, %d of them twice", len(seen), n, twice)
	}
}

func receiveAtMost(s *stage) {
	s.send(s.topic, messages(40)...)
	ctx, cancel := context.WithTimeout(s.ctx, s.Patience)
	defer cancel()
	for most, seen := 1, 0; seen < 40; most++ {
		got, err := s.sub.Receive(ctx, most)
		s.must(err)
		if len(got) == 0 || len(got) > most {
			s.Fatalf("Receive of at most %d gave %d", most, len(got))
		}
		for _, d := range got {
			s.must(d.Ack(s.ctx))
		}
		seen += len(got)
	}
}

func receiveAtHand(s *stage) {
	s.send(s.topic, messages(2)...)
	ctx, cancel := context.WithTimeout(s.ctx, s.Patience)
	defer cancel()
	got, err := s.sub.Receive(ctx, 1000)
	if err != nil || len(got) == 0 {
		s.Errorf("Receive of up to 1,000 with 2 at hand gave %d, %v", len(got), err)
	}
}

func receiveWaits(s *stage) {
	var sender sync.WaitGroup
	started := make(chan struct{})
	sender.Go(func() {
		<-started
		s.send(s.topic, message(1))
	})
	close(started)
	s.must(s.receive(s.sub, 1)[0].Ack(s.ctx))
	sender.Wait()
}

func receiveCancelled(s *stage) {
	s.nothing(s.sub, s.Visibility/4)
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	if _, err := s.sub.Receive(ctx, 1); err == nil {
		s.Error("Receive with an ended context gave no error")
	}
	s.send(s.topic, messages(5)...)
	for _, d := range s.receive(s.sub, 5) {
		s.must(d.Ack(s.ctx))
	}
}

func receiveAnyOrder(s *stage) {
	const n = 50
	for i := range n {
		s.send(s.topic, message(int64(i+1)))
	}
	ids := s.ids(s.receiveAll(s.sub, n))
	for i := range n {
		if ids[int64(i+1)] == 0 {
			s.Errorf("message %d did not come", i+1)
		}
	}
}

func receiveForeign(s *stage) {
	if s.Publish == nil {
		s.Skip("the harness cannot publish a foreign body")
	}
	s.Publish(s.T, s.queue, core.Default, []byte(`{"hello": "world"}`))
	d := s.receive(s.sub, 1)[0]
	if string(d.Body()) != `{"hello": "world"}` {
		s.Errorf("the body is %q", d.Body())
	}
	if _, err := core.DecodeMessage(d.Body()); err == nil {
		s.Error("it decodes as a message of ours")
	}
	s.must(d.Ack(s.ctx))
}

func receiveNotUTF8(s *stage) {
	if s.Publish == nil {
		s.Skip("the harness cannot publish a foreign body")
	}
	body := message(1).Encode()
	s.Publish(s.T, s.queue, core.Default, append(body[:len(body)-1], "\xff\xfe\xff"...))
	d := s.receive(s.sub, 1)[0]
	if _, err := core.DecodeMessage(d.Body()); !errors.Is(err, core.ErrMessage) {
		s.Errorf("%q decodes: %v", d.Body(), err)
	}
	s.must(d.Ack(s.ctx))
}
