package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/functions/boot"
)

const (
	lostFor = time.Minute      // how long a queue may be lost before the host is unhealthy: the worker opens it again meanwhile
	steady  = 30 * time.Second // a call that waits this long for messages shows that the queue is back; longer than a long poll
)

// Serve runs a worker that pulls, until ctx ends and its jobs are finished or handed back. It keeps o.Types fresh and serves
// the worker's health.
func Serve(ctx context.Context, o Options) error {
	var lost losses
	if o.Queue != nil {
		o.Queue, lost = watch(o.Queue)
	}
	health, err := boot.ListenHealth(ctx, o.Settings)
	if err != nil {
		return err
	}
	f, err := New(o)
	if err != nil {
		return errors.Join(err, health.Close())
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return boot.ServeHealth(ctx, health, func() error { return lost.tell(time.Now()) }, o.Log)
	})
	group.Go(func() error { o.Types.Run(ctx); return nil })
	group.Go(func() error { return f.Run(ctx) })
	group.Go(func() error { o.Waker.Run(ctx); return nil })
	o.Log.Info("running", "worker", o.ID, "version", boot.Version(), "queues", o.Queue != nil, "health", health.Addr().String())
	return group.Wait()
}

// Visibility is how long a pulled message is hidden from other workers unless it is extended: as long as the row's
// lease, in whole seconds. It refuses a lease that is longer than the queue can hide a message.
func Visibility(s boot.Settings, most time.Duration) (time.Duration, error) {
	v := (s.Lease + time.Second - 1).Truncate(time.Second)
	if v > most {
		return 0, fmt.Errorf("BELFRY_LEASE: is %s, want at most %s: the queue hides a message no longer", s.Lease, most)
	}
	return v, nil
}

// losses holds the state of receiving from each queue.
type losses map[queuegroup.Key]*loss

// loss is the state of one queue.
type loss struct {
	mu    sync.Mutex
	since time.Time // of the first failure without a success after it; zero while there is none
	waits time.Time // when the call of Receive under way began; zero while there is none
}

// tell returns which queue has been lost for too long. A lost store does not count: another container would not find it
// sooner, and this one may be running jobs.
func (l losses) tell(now time.Time) error {
	longest := lostFor
	var err error
	for queue, q := range l {
		if lost := q.lost(now); lost > longest {
			longest, err = lost, fmt.Errorf("the %s queue has been lost for %s", queue, lost.Round(time.Second))
		}
	}
	return err
}

// lost returns how long. An empty queue is back once a call waits for it longer than a broken one would.
func (q *loss) lost(now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.since.IsZero() || !q.waits.IsZero() && now.Sub(q.waits) > steady {
		return 0
	}
	return now.Sub(q.since)
}

func (q *loss) begin(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waits = now
}

// end notes the result of a call to Receive or of a call before it.
func (q *loss) end(err error, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waited := !q.waits.IsZero() && now.Sub(q.waits) > steady
	q.waits = time.Time{}
	switch {
	case err == nil:
		q.since = time.Time{}
	case q.since.IsZero() || waited:
		q.since = now
	}
}

// watchedQueue notes the results of receiving from its subscriptions.
type watchedQueue struct {
	core.Queue
	group  string
	losses losses
}

// watch watches each queue of q.
func watch(q core.Queue) (core.Queue, losses) {
	all := losses{}
	for _, key := range queuegroup.GroupsOf(q).Keys() {
		all[key] = &loss{}
	}
	return queuegroup.Wrap(q, func(group string, q core.Queue) core.Queue { return &watchedQueue{q, group, all} }), all
}

// OpenSubscription opens a watched subscription.
func (q *watchedQueue) OpenSubscription(ctx context.Context, p core.Priority) (core.Subscription, error) {
	loss := q.losses[queuegroup.Key{Priority: p, Group: q.group}]
	s, err := q.Queue.OpenSubscription(ctx, p)
	if err != nil {
		loss.end(err, time.Now())
		return nil, err
	}
	return watchedSubscription{s, loss}, nil
}

type watchedSubscription struct {
	core.Subscription
	loss *loss
}

func (s watchedSubscription) Receive(ctx context.Context, most int) ([]core.Delivery, error) {
	s.loss.begin(time.Now())
	got, err := s.Subscription.Receive(ctx, most)
	s.loss.end(err, time.Now())
	return got, err
}
