package assemble

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/fleet"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/boot"
)

// creditFor is how long a window's worth of jobs published at submit lasts. In economy mode the next tick sees what is
// queued a minute later at most.
const creditFor = time.Minute

// Dispatcher is a store that publishes jobs at their submit, on hosts without a scheduler in the process.
type Dispatcher struct {
	core.SubmitStore
	topics map[core.Priority]core.Topic
}

// DispatcherStore is what a Dispatcher asks of a store.
type DispatcherStore interface {
	submit.SubmitDispatchStore
	core.FleetStore
	core.QueuedStore
}

// NewDispatcher opens the topics of queue. Jobs that are due at once are published while few are
// in their queue; in economy mode, where a tick comes only each minute, at most a window of each queue in a minute. The
// others wait for the tick, as do all that something holds back and those that no live worker handles; functions says that
// consumers may live only while there is work, and types knows which are deliverable.
func NewDispatcher(ctx context.Context, store DispatcherStore, queue core.Queue, s boot.Settings, types *typecache.Cache, functions bool) (*Dispatcher, error) {
	d := &Dispatcher{topics: map[core.Priority]core.Topic{}}
	for _, p := range core.Priorities {
		topic, err := queue.OpenTopic(ctx, p)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("assemble: open the %s topic: %w", p, err), d.Close(ctx))
		}
		d.topics[p] = topic
	}
	o := submit.DispatchOptions{Topics: d.topics, Fleet: fleet.NewView(store), Types: types, Unannounced: functions}
	if s.Economy {
		credit := &credit{window: s.Window, left: map[queuegroup.Key]int{}, queues: queuegroup.GroupsOf(queue).Keys()}
		o.TakeCredit, o.Lease = func(_ context.Context, queue queuegroup.Key, n int) int { return credit.take(queue, n, time.Now()) }, creditFor
	} else {
		room := &room{store: store, groups: queuegroup.GroupsOf(queue)}
		o.TakeCredit = func(ctx context.Context, queue queuegroup.Key, n int) int {
			return room.take(ctx, queue, n, time.Now())
		}
	}
	var err error
	d.SubmitStore, err = submit.NewDispatcher(store, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("assemble: %w", err), d.Close(ctx))
	}
	return d, nil
}

// Close closes the topics.
func (d *Dispatcher) Close(ctx context.Context) error {
	var errs []error
	for _, topic := range d.topics {
		errs = append(errs, topic.Close(ctx))
	}
	return errors.Join(errs...)
}

// credit bounds what is published at submit.
type credit struct {
	mu     sync.Mutex
	window int
	until  time.Time
	queues []queuegroup.Key
	left   map[queuegroup.Key]int
}

// take returns how many of n jobs may be published.
func (c *credit) take(queue queuegroup.Key, n int, now time.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Round(0).After(c.until) { // by the wall clock: the other one stands still while a function is frozen
		c.until = now.Round(0).Add(creditFor)
		for _, each := range c.queues {
			c.left[each] = c.window
		}
	}
	n = min(n, c.left[queue])
	c.left[queue] -= n
	return n
}
