package work

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/internal/wait"
)

const (
	maxStart    = 2_000                  // messages received and started at once
	holdFor     = 2 * time.Second        // messages wait so long for slots before they are released
	releaseSoon = 500 * time.Millisecond // after which a message that could not be started is to come again
	reopenMin   = 100 * time.Millisecond
	reopenMax   = 5 * time.Second
	extenders   = 16          // messages extended at once
	ackShare    = time.Second // acknowledgements share a context for so long
)

// Receive runs the jobs that queue's messages name until ctx ends, and stops as Run does; messages that it holds
// then and has not started are released. Each priority is received apart from the others, slots go by weight. Of a
// Queue it receives from the queues of some groups; see Options.Groups.
// A message is acknowledged last, when the end of its job is recorded, or when it proves worthless.
// A subscription that fails is closed and opened again. A Worker runs once.
func (w *Worker) Receive(ctx context.Context, queue core.Queue) error {
	queues, err := w.join(queue)
	if err != nil {
		return err
	}
	w.gate.init(len(queues))
	w.queues, w.passing.queue = true, queue
	if w.opts.Pass != nil {
		w.passing.queue = w.opts.Pass
	}
	return w.run(ctx, func(active context.Context) {
		for _, p := range w.opts.Priorities {
			for _, q := range queues {
				r := &receiver{starter: w.newStarter(p), queue: q.queue, group: q.group}
				w.tasks.Go(func() { r.loop(active) })
			}
		}
	})
}

// receiver receives the messages of one priority, and of one group of types.
type receiver struct {
	starter
	queue core.Queue
	group string // "" of types in none
	sub   core.Subscription
	fails int
}

// starter starts the jobs of messages of one priority.
type starter struct {
	w        *Worker
	priority core.Priority
	store    outage
}

func (w *Worker) newStarter(p core.Priority) starter {
	return starter{w: w, priority: p, store: outage{w: w}}
}

// held is a message in hand that is not started.
type held struct {
	core.Message
	delivery core.Delivery
}

// loop receives until ctx ends, opening the subscription again whenever it fails.
func (r *receiver) loop(ctx context.Context) {
	for ctx.Err() == nil {
		err := r.once(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			if r.fails++; r.fails == 1 {
				r.w.event(Event{Kind: QueueLost, Priority: r.priority, Group: r.group, Err: err})
			}
			r.close()
			wait.Sleep(ctx, wait.Pause(r.fails, reopenMin, reopenMax, r.w.opts.Chance()))
		case r.fails > 0:
			r.fails = 0
			r.w.event(Event{Kind: QueueBack, Priority: r.priority, Group: r.group})
		}
	}
	// Messages of this subscription are acknowledged until all ends are recorded: it is closed after that.
	r.w.mu.Lock()
	r.w.receivers = append(r.w.receivers, r)
	r.w.mu.Unlock()
}

func (r *receiver) close() {
	if r.sub == nil {
		return
	}
	ctx, cancel := context.WithTimeout(r.w.base, r.w.flushGrace())
	defer cancel()
	_ = r.sub.Close(ctx) // even after an error another one is opened
	r.sub = nil
}

// closeReceivers closes the subscriptions once nothing of them is in hand any more.
func (w *Worker) closeReceivers() {
	var group sync.WaitGroup
	for _, r := range w.receivers {
		group.Go(r.close)
	}
	group.Go(func() {
		ctx, cancel := context.WithTimeout(w.base, w.flushGrace())
		defer cancel()
		w.passing.close(ctx)
	})
	group.Wait()
}

// once receives one batch and starts it. The error is the subscription's.
func (r *receiver) once(ctx context.Context) error {
	if r.w.beats.down() {
		wait.Sleep(ctx, r.w.opts.Heartbeat/8)
		return nil
	}
	if r.sub == nil {
		sub, err := r.queue.OpenSubscription(ctx, r.priority)
		if err != nil {
			return err
		}
		r.sub = sub
	}
	n := min(r.w.bound(ctx, r.priority), maxStart)
	if n == 0 {
		return nil
	}
	deliveries, err := r.sub.Receive(ctx, n)
	r.w.received(r.priority, len(deliveries) >= n)
	if len(deliveries) > 0 {
		if r.w.announcer.due(time.Now()) { // the timer of a function that is frozen does not run
			signal(r.w.announceC)
		}
		r.startAll(ctx, r.w.read(deliveries))
	}
	return err
}

// read decodes messages and rejects those that are none of ours.
func (w *Worker) read(deliveries []core.Delivery) []held {
	messages := make([]held, 0, len(deliveries))
	for _, d := range deliveries {
		m, err := core.DecodeMessage(d.Body())
		if err != nil {
			w.noteUnreadable(err)
			w.reject(d)
			continue
		}
		messages = append(messages, held{m, d})
	}
	return w.distinct(messages)
}

// noteUnreadable counts a message that is none of ours.
func (w *Worker) noteUnreadable(err error) {
	w.mu.Lock()
	w.counts.Refused++
	w.mu.Unlock()
	w.event(Event{Kind: MessageRefused, Err: err})
}

// distinct acknowledges messages that are worth nothing beside others in hand, and returns the others: one for each job, the first
// with the highest token. Tokens only rise.
func (w *Worker) distinct(messages []held) []held {
	newest := make(map[int64]int64, len(messages))
	for _, m := range messages {
		newest[m.ID] = max(newest[m.ID], m.Token)
	}
	return slices.DeleteFunc(messages, func(m held) bool {
		token, first := newest[m.ID]
		if !first || m.Token < token {
			w.acknowledge(m.delivery)
			return true
		}
		delete(newest, m.ID)
		return false
	})
}

// startAll starts messages as slots become free, and releases those that would have to wait too long.
func (s *starter) startAll(ctx context.Context, messages []held) {
	if messages = s.refuse(ctx, messages); len(messages) == 0 {
		wait.Sleep(ctx, strayWait) // for others to receive what was just passed on
		return
	}
	deadline := time.Now().Add(holdFor)
	for len(messages) > 0 {
		n := 0
		if ctx.Err() == nil && !s.w.beats.down() {
			n = s.w.take(ctx, s.priority, len(messages), deadline)
		}
		if n == 0 {
			s.w.release(messages, releaseSoon)
			return
		}
		s.start(ctx, messages[:n])
		messages = messages[n:]
	}
}

// handled parts messages of types that are run here from the others. Old messages name no type.
func (w *Worker) handled(messages []held) (known, unhandled []held) {
	known = messages[:0]
	for _, m := range messages {
		if m.Type != "" && !w.handles(m.Type) {
			unhandled = append(unhandled, m)
		} else {
			known = append(known, m)
		}
	}
	return known, unhandled
}

func refsOf(messages []held) []core.Ref {
	refs := make([]core.Ref, len(messages))
	for i, m := range messages {
		refs[i] = core.Ref{ID: m.ID, Token: m.Token}
	}
	return refs
}

// start makes rows running whose messages are in hand, one slot taken for each, and runs them. Of types that only have a
// mark here, those without a target stay queued: they are given to workers with a handler.
func (s *starter) start(ctx context.Context, messages []held) {
	var targeted []held
	others := messages
	if s.w.delivers() {
		others = nil
		for _, m := range messages {
			if s.w.onlyTargeted(m.Type) {
				targeted = append(targeted, m)
			} else {
				others = append(others, m)
			}
		}
	}
	if len(others) > 0 {
		s.w.release(s.startRows(ctx, others, false), releaseSoon)
	}
	if len(targeted) > 0 {
		s.leave(ctx, s.startRows(ctx, targeted, true))
	}
}

// startRows is start for rows of one kind, and returns the messages of rows that are busy.
func (s *starter) startRows(ctx context.Context, messages []held, targeted bool) (busy []held) {
	w, sent := s.w, time.Now()
	req := core.ClaimRequest{WorkerID: *w.name.Load(), ClaimID: newClaimID(), Lease: w.opts.Lease, Targeted: targeted}
	call, cancel := context.WithTimeout(w.claims, w.opts.StoreTimeout)
	res, err := w.store.Start(call, refsOf(messages), req)
	cancel()
	byID := make(map[int64]core.Delivery, len(messages))
	for _, m := range messages {
		byID[m.ID] = m.delivery
	}
	if err != nil {
		var slots [core.Bulk + 1]int
		slots[s.priority] = len(messages)
		w.recoverClaim(req.ClaimID, sent, slots, byID)
		w.give(s.priority, len(messages))
		s.store.failed(err)
		wait.Sleep(ctx, wait.Pause(s.store.fails, claimWaitMin, claimWaitMax, w.opts.Chance()))
		return nil
	}
	s.store.answered()
	deliveries := make([]core.Delivery, len(res.Jobs))
	for i := range res.Jobs {
		deliveries[i] = byID[res.Jobs[i].ID]
		delete(byID, res.Jobs[i].ID)
	}
	w.begin(res.Jobs, &claimed{sent: sent, store: res.Now}, deliveries)
	w.give(s.priority, len(messages))
	locked := make(map[int64]bool, len(res.Busy))
	for _, ref := range res.Busy {
		locked[ref.ID] = true
	}
	for _, m := range messages {
		switch {
		case byID[m.ID] == nil: // runs
		case locked[m.ID]:
			busy = append(busy, m)
		default: // stale
			w.acknowledge(m.delivery)
		}
	}
	return busy
}

// acknowledge ends a message. If that fails it comes again, and its token tells that it is worthless.
func (w *Worker) acknowledge(d core.Delivery) {
	_ = d.Ack(w.acks.context(w, time.Now()))
}

// reject puts a message that cannot be read to the dead letters of its queue, or ends it where there are none.
func (w *Worker) reject(d core.Delivery) {
	if r, ok := d.(core.Rejecter); ok {
		_ = r.Reject(w.acks.context(w, time.Now()))
		return
	}
	w.acknowledge(d)
}

// ackContext is the context of acknowledgements. They share one for a while, because one for each costs more than
// many queues take to acknowledge.
type ackContext struct {
	mu     sync.Mutex
	ctx    context.Context
	cancel context.CancelFunc
	until  time.Time // when the next one is made
}

// context returns a context that lasts for at least StoreTimeout.
func (c *ackContext) context(w *Worker, now time.Time) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !now.Before(c.until) {
		// The one before is not cancelled: others may be using it. Its time ends, or the worker's.
		c.ctx, c.cancel = context.WithTimeout(w.calls, w.opts.StoreTimeout+ackShare) //nolint:gosec // ends as said above
		c.until = now.Add(ackShare)
	}
	return c.ctx
}

// release gives messages back to their queue, to come again after about d.
func (w *Worker) release(messages []held, d time.Duration) {
	for _, m := range messages {
		ctx, cancel := w.call()
		_ = m.delivery.Release(ctx, d) // else its visibility timeout does it
		cancel()
	}
}

// extendAll prolongs the visibility timeouts of the messages of attempts whose leases were just extended. It
// does not hold up the next heartbeat; while it is still at it, it is not begun again.
func (w *Worker) extendAll(attempts []*attempt) {
	if len(attempts) == 0 || w.extending.Swap(true) {
		return
	}
	w.loops.Go(func() {
		defer w.extending.Store(false)
		work := make(chan core.Delivery)
		var group sync.WaitGroup
		for range min(extenders, len(attempts)) {
			group.Go(func() {
				for d := range work {
					ctx, cancel := context.WithTimeout(w.calls, w.opts.Heartbeat)
					if errors.Is(d.Extend(ctx, w.opts.Lease), core.ErrCannotExtend) {
						w.fixed.Store(true)
					}
					cancel()
				}
			})
		}
		for _, a := range attempts {
			if w.fixed.Load() {
				break // this queue has nothing to extend
			}
			work <- a.delivery
		}
		close(work)
		group.Wait()
	})
}
