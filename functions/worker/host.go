package worker

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
)

// lostFor is how long a queue may be lost before the host counts as sick: the worker opens it again by itself.
const lostFor = time.Minute

// Serve is a worker that runs all the time and pulls: it works until ctx ends and everything it held is finished or
// handed back, keeps o.Types fresh, and tells its health meanwhile.
func Serve(ctx context.Context, o Options) error {
	lost := &losses{since: map[core.Priority]time.Time{}}
	f, err := newFunction(o, lost.note)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return boot.ServeHealth(ctx, o.Settings, func() error { return lost.tell(time.Now()) }, o.Log)
	})
	group.Go(func() error { o.Types.Run(ctx); return nil })
	group.Go(func() error { return f.Run(ctx) })
	o.Log.Info("running", "worker", o.ID, "version", boot.Version(), "queues", o.Queue != nil)
	return group.Wait()
}

// Visibility is how long a pulled message is hidden from other workers unless it is extended: as long as the row's
// lease, in whole seconds. A lease that the queue cannot match, for it hides a message for at most so long, is refused.
func Visibility(s boot.Settings, most time.Duration) (time.Duration, error) {
	v := (s.Lease + time.Second - 1).Truncate(time.Second)
	if v > most {
		return 0, fmt.Errorf("BELFRY_LEASE: is %s, want at most %s: the queue hides a message no longer", s.Lease, most)
	}
	return v, nil
}

// losses are the queues that a worker has lost and not found again.
type losses struct {
	mu    sync.Mutex
	since map[core.Priority]time.Time
}

func (l *losses) note(e core.WorkEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.Kind {
	case core.QueueLost:
		l.since[e.Priority] = time.Now()
	case core.QueueBack:
		delete(l.since, e.Priority)
	}
}

// tell says which queue has been lost for too long. A lost store says nothing: another container would find it no
// sooner, and this one may have jobs at work.
func (l *losses) tell(now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range core.Priorities {
		if since, ok := l.since[p]; ok && now.Sub(since) > lostFor {
			return fmt.Errorf("the %s queue has been lost for %s", p, now.Sub(since).Round(time.Second))
		}
	}
	return nil
}
