package submit

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/belfry-dev/belfry/core"
)

// commits puts what many callers ask for into few calls of a store: what arrives while InFlight of them are under way
// shares the next one.
type commits[In, Out any] struct {
	opts Options
	// write carries a group out; answer i, and the error i of that one alone, where there are any, are for item i. An error of
	// the whole is everybody's.
	write func(ctx context.Context, group []In) ([]Out, []error, error)

	mu       sync.Mutex
	waiting  []*submission[In, Out]
	inFlight int
	closed   bool
	groups   sync.WaitGroup
}

// submission is what one caller asks for on its way into a group.
type submission[In, Out any] struct {
	in   In
	out  Out
	err  error
	done chan struct{}
}

func newCommits[In, Out any](opts Options, write func(context.Context, []In) ([]Out, []error, error)) *commits[In, Out] {
	return &commits[In, Out]{opts: opts, write: write}
}

// submit waits until a group with in was written. When ctx ends first the caller stops waiting, and whether it was written
// is unknown, as after any lost answer.
func (c *commits[In, Out]) submit(ctx context.Context, in In) (Out, error) {
	sub := &submission[In, Out]{in: in, done: make(chan struct{})}
	if err := c.join(ctx, sub); err != nil {
		return sub.out, err
	}
	select {
	case <-sub.done:
		return sub.out, sub.err
	case <-ctx.Done():
		var none Out
		return none, context.Cause(ctx)
	}
}

// join puts sub into the next group, and starts that group if it may go at once.
func (c *commits[In, Out]) join(ctx context.Context, sub *submission[In, Out]) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	c.waiting = append(c.waiting, sub)
	if c.inFlight < c.opts.InFlight {
		c.inFlight++
		c.groups.Go(c.writeGroups)
	}
	return nil
}

// writeGroups writes what is waiting, group by group, until nothing is.
func (c *commits[In, Out]) writeGroups() {
	growStack(0)
	for {
		c.mu.Lock()
		group := c.waiting
		if len(group) > c.opts.MaxGroup {
			group, c.waiting = group[:c.opts.MaxGroup:c.opts.MaxGroup], group[c.opts.MaxGroup:]
		} else {
			c.waiting = nil
		}
		if len(group) == 0 {
			c.inFlight--
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		c.writeGroup(group)
		runtime.Gosched() // lets the callers just answered come back: what they bring shares the next commit
	}
}

// writeGroup writes a group in one commit. No caller's ctx governs it: one that leaves must not take the
// others' along.
func (c *commits[In, Out]) writeGroup(group []*submission[In, Out]) {
	ctx, cancel := context.WithTimeout(context.Background(), c.opts.Timeout)
	defer cancel()
	in := make([]In, len(group))
	for i, sub := range group {
		in[i] = sub.in
	}
	out, errs, err := c.write(ctx, in)
	if err == nil && len(out) != len(group) {
		err = fmt.Errorf("submit: %d answers for %d calls", len(out), len(group))
	}
	if err != nil && len(group) > 1 && core.CertainlyUnwritten(err) {
		for _, sub := range group {
			c.writeGroup([]*submission[In, Out]{sub})
		}
		return
	}
	for i, sub := range group {
		if sub.err = err; err == nil {
			sub.out = out[i]
			if errs != nil {
				sub.err = errs[i]
			}
		}
		close(sub.done)
	}
}

// close refuses what comes and waits until what was taken is written.
func (c *commits[In, Out]) close(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	idle := make(chan struct{})
	go func() { c.groups.Wait(); close(idle) }()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// storeStack is about the stack that a call of a store takes, from here down to the connection.
const storeStack = 6 << 10

// growStack makes the stack of a goroutine large enough for calls of a store while there is next to nothing on it. A goroutine
// begins with 2 KiB; to move a stack when the call is at its deepest costs more than all else that a Submitter does for a job.
//
//go:noinline
func growStack(i int) byte {
	var room [storeStack]byte
	room[i] = 1
	return room[storeStack-1-i]
}
