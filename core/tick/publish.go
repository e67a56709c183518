package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
	"github.com/belfry-dev/belfry/core/queuegroup"
)

const (
	probeRefs      = 100              // rows made due again at once while Sends to their queue fail
	publishWaitMax = 15 * time.Second // a failing queue is tried at least this often
)

var (
	errStillPublishing = errors.New("some messages are still being published")
)

// publisher sends messages in groups, several at once, and keeps the rows whose messages may not have been published. A
// topic that hangs or fails does not affect the other queues.
type publisher struct {
	opts     DispatchOptions
	groups   queuegroup.Groups
	lines    []*line // by priority and group, see queuegroup.IndexOf
	onFailed func(n int, err error)
	life     context.Context // of every Send; cancelled when leaving takes too long
	stop     context.CancelFunc
	sends    sync.WaitGroup
}

// line is the topic of one queue.
type line struct {
	key   queuegroup.Key
	topic core.Topic
	slots chan struct{} // one token per Send in progress

	mu      sync.Mutex
	pending int        // messages that are being sent
	failed  []core.Ref // may not have been published
	inRow   int        // groups in a row that failed completely
	tryAt   time.Time
}

func newPublisher(topics map[core.Priority]core.Topic, opts DispatchOptions, onFailed func(n int, err error)) *publisher {
	p := &publisher{opts: opts, groups: queuegroup.GroupsOfTopics(topics), onFailed: onFailed}
	p.life, p.stop = context.WithCancel(context.Background())
	keys := p.groups.Keys()
	p.lines = make([]*line, len(keys))
	for _, priority := range core.Priorities {
		for group, topic := range queuegroup.TopicsByGroup(topics[priority]) {
			at := queuegroup.IndexOf(priority, group)
			p.lines[at] = &line{key: keys[at], topic: topic, slots: make(chan struct{}, opts.Publishers)}
		}
	}
	return p
}

// publish starts sending one message per job, in groups by queue, and returns.
func (p *publisher) publish(jobs []core.Job) {
	counts := make([]int, len(p.lines))
	places := make([]int, len(jobs))
	for i := range jobs {
		j := &jobs[i]
		if !j.Priority.Valid() {
			places[i] = -1 // a damaged row; its dispatch lease keeps expiring, and doctor shows it
			continue
		}
		places[i] = queuegroup.IndexOf(j.Priority, p.groups.NumberOf(j.Type))
		counts[places[i]]++
	}
	byQueue := make([][]core.Message, len(p.lines))
	for place, n := range counts {
		byQueue[place] = make([]core.Message, 0, n)
	}
	for i, place := range places {
		if place >= 0 {
			byQueue[place] = append(byQueue[place], core.MessageOf(jobs[i]))
		}
	}
	for place, messages := range byQueue {
		if len(messages) == 0 {
			continue
		}
		l := p.lines[place]
		l.mu.Lock()
		l.pending += len(messages)
		l.mu.Unlock()
		for group := range slices.Chunk(messages, p.opts.Group) {
			p.sends.Go(func() { p.send(l, group) })
		}
	}
}

// send publishes one group and records the messages that may not have been published.
func (p *publisher) send(l *line, group []core.Message) {
	var errs []error
	select {
	case l.slots <- struct{}{}:
		// After the dispatch lease the rows are published again anyway.
		ctx, cancel := context.WithTimeout(p.life, p.opts.Lease)
		errs = l.topic.Send(ctx, group)
		cancel()
		<-l.slots
	case <-p.life.Done():
	}
	failed, cause := core.Unpublished(group, errs)
	l.settle(len(group), failed)
	if len(failed) > 0 {
		p.onFailed(len(failed), fmt.Errorf("publish %s: %w", l.key, cause))
	}
}

// settle records the result for one group of n messages.
func (l *line) settle(n int, failed []core.Ref) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending -= n
	l.failed = append(l.failed, failed...)
	if len(failed) < n {
		l.inRow, l.tryAt = 0, time.Time{}
		return
	}
	if l.inRow++; l.inRow > 1 {
		l.tryAt = time.Now().Add(min(publishWaitMax, time.Second<<min(l.inRow-2, 4)))
	}
}

// take returns the failed rows to try again now: all of them, or only a few while every Send of the topic fails.
func (l *line) take(all bool) []core.Ref {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.failed)
	if !all {
		if time.Now().Before(l.tryAt) {
			return nil
		}
		if l.inRow > 1 {
			n = min(n, probeRefs)
		}
	}
	refs := l.failed[:n:n]
	l.failed = l.failed[n:]
	return refs
}

func (l *line) putBack(refs []core.Ref) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = append(refs, l.failed...)
}

// returnFailed ends the dispatch leases of rows whose Send failed, so that the next pass publishes them again with the same
// token.
func (p *publisher) returnFailed(ctx context.Context, store core.TickStore) error {
	return p.returnToStore(ctx, store, false)
}

func (p *publisher) returnToStore(ctx context.Context, store core.TickStore, all bool) error {
	for _, l := range p.lines {
		refs := l.take(all)
		if len(refs) == 0 {
			continue
		}
		err := apart.Halve(ctx, refs, func(part []core.Ref) error { return store.Undispatch(ctx, part) }, func(ref core.Ref, err error) error {
			return store.SetApart(ctx, []core.RowFault{{Kind: core.ApartJob, ID: ref.ID, Act: "publish", Error: apart.Text(err)}})
		})
		if err != nil {
			l.putBack(refs)
			return fmt.Errorf("undispatch: %w", err)
		}
	}
	return nil
}

// behind reports whether a topic has more messages to send than one pass marks.
func (p *publisher) behind() bool {
	for _, l := range p.lines {
		l.mu.Lock()
		pending := l.pending
		l.mu.Unlock()
		if pending > p.opts.PassLimit {
			return true
		}
	}
	return false
}

// flush waits for every Send, at most until ctx ends, and returns failed rows to the store.
func (p *publisher) flush(ctx context.Context, store core.TickStore) error {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		p.sends.Wait()
	}()
	select {
	case <-sent:
	case <-ctx.Done():
		return errStillPublishing
	}
	return p.returnToStore(ctx, store, true)
}

// leave calls flush and then cancels Sends that still hang. Nothing is sent afterwards.
func (p *publisher) leave(ctx context.Context, store core.TickStore) error {
	err := p.flush(ctx, store)
	p.stop()
	p.sends.Wait()
	return err
}
