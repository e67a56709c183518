package node

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
)

// pulse is when something last showed that it makes progress.
type pulse struct{ last atomic.Pointer[time.Time] }

func newPulse() *pulse {
	p := &pulse{}
	p.beat()
	return p
}

func (p *pulse) beat() {
	now := time.Now()
	p.last.Store(&now)
}

// silent is how long ago that was; at first, how long ago the pulse was made.
func (p *pulse) silent() time.Duration { return time.Since(*p.last.Load()) }

// watchedStore notes when a direct worker's claims are answered.
type watchedStore struct {
	core.WorkStore
	answered *pulse
}

func (s watchedStore) ClaimDue(ctx context.Context, req core.ClaimRequest) (core.ClaimResult, error) {
	res, err := s.WorkStore.ClaimDue(ctx, req)
	if err == nil {
		s.answered.beat()
	}
	return res, err
}

func (s watchedStore) Waiting(ctx context.Context) ([]core.Lane, error) {
	lanes, err := s.WorkStore.Waiting(ctx)
	if err == nil {
		s.answered.beat()
	}
	return lanes, err
}

// intake is what is known of the receiving from one queue.
type intake struct {
	answered *pulse
	waiting  atomic.Int32 // calls of Receive under way
}

// silent is how long nobody has been receiving.
func (i *intake) silent() time.Duration {
	if i.waiting.Load() > 0 {
		return 0
	}
	return i.answered.silent()
}

// watchedQueue notes when its subscriptions are received from.
type watchedQueue struct {
	core.Queue
	group   string
	intakes map[queuegroup.Key]*intake
}

// watchQueue watches each queue of q.
func watchQueue(q core.Queue) (core.Queue, map[queuegroup.Key]*intake) {
	intakes := map[queuegroup.Key]*intake{}
	for _, key := range queuegroup.GroupsOf(q).Keys() {
		intakes[key] = &intake{answered: newPulse()}
	}
	return queuegroup.Wrap(q, func(group string, q core.Queue) core.Queue { return &watchedQueue{q, group, intakes} }), intakes
}

// OpenSubscription opens one that is watched.
func (q *watchedQueue) OpenSubscription(ctx context.Context, p core.Priority) (core.Subscription, error) {
	sub, err := q.Queue.OpenSubscription(ctx, p)
	if err != nil {
		return nil, err
	}
	return watchedSubscription{sub, q.intakes[queuegroup.Key{Priority: p, Group: q.group}]}, nil
}

type watchedSubscription struct {
	core.Subscription
	intake *intake
}

func (s watchedSubscription) Receive(ctx context.Context, most int) ([]core.Delivery, error) {
	s.intake.waiting.Add(1)
	defer s.intake.waiting.Add(-1)
	began := time.Now()
	got, err := s.Subscription.Receive(ctx, most)
	if err == nil || time.Since(began) > patience { // it was well until now: nobody waits so long on what is broken
		s.intake.answered.beat()
	}
	return got, err
}
