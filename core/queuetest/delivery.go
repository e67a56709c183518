package queuetest

import (
	"context"
	"errors"
	"sync"

	"github.com/belfry-dev/belfry/core"
)

func ack(s *stage) {
	s.send(s.topic, messages(20)...)
	for _, d := range s.receiveAll(s.sub, 20) {
		s.must(d.Ack(s.ctx))
	}
	s.nothing(s.sub, 2*s.Visibility)
}

func expiry(s *stage) {
	s.send(s.topic, message(1))
	first := s.receive(s.sub, 1)
	s.lapse()
	again := s.receive(s.sub, 1)
	if ids := s.ids(append(first, again...)); ids[1] != 2 {
		s.Errorf("deliveries by id: %v, want id 1 twice", ids)
	}
	s.must(again[0].Ack(s.ctx))
	s.nothing(s.sub, 2*s.Visibility)
}

func ackSome(s *stage) {
	s.send(s.topic, messages(10)...)
	for _, d := range s.receiveAll(s.sub, 10) {
		if m, err := core.DecodeMessage(d.Body()); err != nil || m.ID != 4 {
			s.must(d.Ack(s.ctx))
		}
	}
	s.lapse()
	again := s.receive(s.sub, 1)
	if ids := s.ids(again); ids[4] != 1 {
		s.Errorf("came again by id: %v, want 4 only", ids)
	}
	s.must(again[0].Ack(s.ctx))
	s.nothing(s.sub, 2*s.Visibility)
}

func ackConcurrently(s *stage) {
	n := min(s.Batch, 200)
	s.send(s.topic, messages(n)...)
	var acks sync.WaitGroup
	for _, d := range s.receiveAll(s.sub, n) {
		acks.Go(func() {
			if err := d.Ack(s.ctx); err != nil {
				s.Errorf("ack: %v", err)
			}
		})
	}
	acks.Wait()
	s.nothing(s.sub, 2*s.Visibility)
}

func release(s *stage) {
	s.send(s.topic, message(1))
	s.must(s.receive(s.sub, 1)[0].Release(s.ctx, 0))
	again := s.receive(s.sub, 1)
	if ids := s.ids(again); ids[1] != 1 {
		s.Errorf("came again by id: %v, want 1", ids)
	}
	s.must(again[0].Ack(s.ctx))
	s.nothing(s.sub, 2*s.Visibility)
}

func releaseDelayed(s *stage) {
	if s.CannotDelay {
		s.Skip("this queue cannot delay what is released")
	}
	s.send(s.topic, message(1))
	s.must(s.receive(s.sub, 1)[0].Release(s.ctx, 3*s.Visibility))
	s.nothing(s.sub, 2*s.Visibility)
	s.Patience += 3 * s.Visibility
	s.must(s.receive(s.sub, 1)[0].Ack(s.ctx))
}

func extend(s *stage) {
	if s.CannotExtend {
		s.Skip("this queue has no visibility timeout to extend")
	}
	s.send(s.topic, message(1))
	d := s.receive(s.sub, 1)[0]
	s.must(d.Extend(s.ctx, 4*s.Visibility))
	s.nothing(s.sub, 2*s.Visibility)
	s.must(d.Extend(s.ctx, 4*s.Visibility))
	s.nothing(s.sub, 3*s.Visibility)
	s.must(d.Ack(s.ctx))
	s.nothing(s.sub, 2*s.Visibility)
}

func extendExpires(s *stage) {
	if s.CannotExtend {
		s.Skip("this queue has no visibility timeout to extend")
	}
	s.send(s.topic, message(1))
	s.must(s.receive(s.sub, 1)[0].Extend(s.ctx, 2*s.Visibility))
	s.Patience += 2 * s.Visibility
	s.must(s.receive(s.sub, 1)[0].Ack(s.ctx))
}

func extendOne(s *stage) {
	if s.CannotExtend {
		s.Skip("this queue has no visibility timeout to extend")
	}
	s.send(s.topic, messages(3)...)
	all := s.receive(s.sub, 3)
	s.must(all[0].Extend(s.ctx, 4*s.Visibility))
	again := s.receive(s.sub, 2)
	for id := range s.ids(all[:1]) {
		if s.ids(again)[id] != 0 {
			s.Error("the extended one came again")
		}
	}
	for _, d := range append(again, all[0]) {
		s.must(d.Ack(s.ctx))
	}
}

func cannotExtend(s *stage) {
	if !s.CannotExtend {
		s.Skip("this queue can extend")
	}
	s.send(s.topic, message(1))
	d := s.receive(s.sub, 1)[0]
	if err := d.Extend(s.ctx, s.Visibility); !errors.Is(err, core.ErrCannotExtend) {
		s.Errorf("Extend: %v, want ErrCannotExtend", err)
	}
	s.must(d.Ack(s.ctx))
}

func closeUnacknowledged(s *stage) {
	s.send(s.topic, messages(30)...)
	kept := s.receive(s.sub, 10)
	s.must(kept[0].Ack(s.ctx))
	s.must(s.sub.Close(s.ctx))
	next, seen := s.openSubscription(core.Default), map[int64]bool{}
	for len(seen) < 29 {
		d := s.receive(next, 1)
		for id := range s.ids(d) {
			seen[id] = true
		}
		s.must(d[0].Ack(s.ctx))
	}
	s.nothing(next, 2*s.Visibility)
}

func closeAcknowledged(s *stage) {
	n := min(s.Batch, 300)
	s.send(s.topic, messages(n)...)
	for _, d := range s.receiveAll(s.sub, n) {
		s.must(d.Ack(s.ctx))
	}
	s.must(s.sub.Close(s.ctx))
	s.nothing(s.openSubscription(core.Default), 2*s.Visibility)
}

func closeWhileReceiving(s *stage) {
	var receiver sync.WaitGroup
	ctx, cancel := context.WithTimeout(s.ctx, s.Patience)
	defer cancel()
	var err error
	receiver.Go(func() { _, err = s.sub.Receive(ctx, 1) })
	s.must(s.sub.Close(s.ctx))
	receiver.Wait()
	if err == nil || ctx.Err() != nil {
		s.Errorf("Receive answered %v (its context: %v), want an error once the subscription was closed", err, ctx.Err())
	}
}

func breakAndReopen(s *stage) {
	if s.Break == nil {
		s.Skip("the harness cannot break a subscription")
	}
	s.send(s.topic, message(1))
	s.receive(s.sub, 1) // received and not acknowledged when the connection breaks
	s.Break(s.T, s.queue, core.Default)
	ctx, cancel := context.WithTimeout(s.ctx, s.Patience)
	defer cancel()
	for range 2 { // for good: a further try fails too
		if _, err := s.sub.Receive(ctx, 1); err == nil || ctx.Err() != nil {
			s.Fatalf("a broken subscription answers %v (context: %v)", err, ctx.Err())
		}
	}
	_ = s.sub.Close(s.ctx) // may return the error of the break
	s.send(s.topic, message(2))
	if ids := s.ids(s.receiveAll(s.openSubscription(core.Default), 2)); ids[1] == 0 || ids[2] == 0 {
		s.Errorf("received by id after reopening: %v, want 1 and 2", ids)
	}
}
