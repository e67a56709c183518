package aws

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-dev/belfry/core"
)

// maxReleases is how often a message may be given back within one invocation: its row was locked, or the store did
// not answer. After that it is left.
const maxReleases = 3

// Batch is a core.Queue of the messages that one SQS event brings. What becomes of each is settled as a queue would,
// and told to Lambda by Failures.
type Batch struct {
	mu      sync.Mutex
	items   []*item
	changed chan struct{} // closed, and made anew, when a message waits again or is settled
	done    chan struct{} // closed once all are settled
	open    int           // not settled yet
	ended   bool          // nothing waits any more
}

// item is one message of the event. Its batch's mutex guards it.
type item struct {
	batch    *Batch
	id       string // what SQS calls it
	body     []byte
	priority core.Priority
	state    itemState
	due      time.Time // when it is delivered, while it waits
	releases int
}

type itemState int8

const (
	waiting  itemState = iota
	inHand             // of a worker
	left               // given back, and not to be delivered in this invocation again
	refused            // no worker can read it
	finished           // SQS may delete it
)

// NewBatch makes one of an event. Messages without an id, and repeated ones, cannot be told apart in the answer: they
// are left out of it, and of the work.
func NewBatch(event events.SQSEvent) *Batch {
	b := &Batch{changed: make(chan struct{}), done: make(chan struct{})}
	known := map[string]bool{"": true}
	for _, m := range event.Records {
		if known[m.MessageId] {
			continue
		}
		known[m.MessageId] = true
		i := &item{batch: b, id: m.MessageId, body: []byte(m.Body), priority: core.Default}
		if read, err := core.DecodeMessage(i.body); err == nil {
			i.priority = cmp.Or(read.Priority, core.Default)
		}
		b.items = append(b.items, i)
	}
	if b.open = len(b.items); b.open == 0 {
		close(b.done)
	}
	return b
}

// Done is closed once no message waits or is in hand.
func (b *Batch) Done() <-chan struct{} { return b.done }

// End leaves what still waits. Messages in hand stay there.
func (b *Batch) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	for _, i := range b.items {
		if i.state == waiting {
			i.settleLocked(left)
		}
	}
}

// Failures is the answer to Lambda: the ids of the messages that SQS is to keep, each of them one of the event's.
// A single id that is not makes Lambda return the whole batch.
func (b *Batch) Failures() events.SQSEventResponse {
	b.mu.Lock()
	defer b.mu.Unlock()
	answer := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for _, i := range b.items {
		if i.state != finished {
			answer.BatchItemFailures = append(answer.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: i.id})
		}
	}
	return answer
}

// OpenTopic is refused: an event is only received.
func (*Batch) OpenTopic(context.Context, core.Priority) (core.Topic, error) {
	return nil, errors.New("aws: nothing is sent to an event")
}

// OpenSubscription gives the messages of a priority.
func (b *Batch) OpenSubscription(_ context.Context, p core.Priority) (core.Subscription, error) {
	return &batchSubscription{b, p}, nil
}

// settleLocked notes what became of a message. The batch's mutex is held.
func (i *item) settleLocked(state itemState) {
	before := i.state
	i.state = state
	if before == waiting || before == inHand {
		if i.batch.open--; i.batch.open == 0 {
			close(i.batch.done)
		}
	}
}

// batchSubscription receives the messages of one priority.
type batchSubscription struct {
	batch    *Batch
	priority core.Priority
}

// Receive waits for messages that are due.
func (s *batchSubscription) Receive(ctx context.Context, most int) ([]core.Delivery, error) {
	for {
		got, next, changed := s.batch.take(s.priority, most, time.Now())
		if len(got) > 0 {
			return got, nil
		}
		var timer *time.Timer
		var due <-chan time.Time
		if !next.IsZero() {
			timer = time.NewTimer(time.Until(next))
			due = timer.C
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-due:
		}
		if timer != nil {
			timer.Stop()
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// take puts due messages in hand, or says when the next is due and what to wait on.
func (b *Batch) take(p core.Priority, most int, now time.Time) (got []core.Delivery, next time.Time, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range b.items {
		if i.state != waiting || i.priority != p || len(got) == most {
			continue
		}
		if i.due.After(now) {
			if next.IsZero() || i.due.Before(next) {
				next = i.due
			}
			continue
		}
		i.state = inHand
		got = append(got, i)
	}
	return got, next, b.changed
}

// Close has nothing to close.
func (*batchSubscription) Close(context.Context) error { return nil }

// Body is the message as SQS has it.
func (i *item) Body() []byte { return i.body }

// Ack lets SQS delete the message.
func (i *item) Ack(context.Context) error { return i.settle(finished) }

// Reject keeps the message: SQS delivers it again, and after maxReceiveCount moves it to the dead letters.
func (i *item) Reject(context.Context) error { return i.settle(refused) }

func (i *item) settle(state itemState) error {
	i.batch.mu.Lock()
	defer i.batch.mu.Unlock()
	i.settleLocked(state)
	return nil
}

// Release gives the message to the workers of this invocation again, a few times.
func (i *item) Release(_ context.Context, d time.Duration) error {
	b := i.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	if i.releases++; b.ended || i.releases > maxReleases {
		i.settleLocked(left)
		return nil
	}
	i.state, i.due = waiting, time.Now().Add(d)
	close(b.changed)
	b.changed = make(chan struct{})
	return nil
}

// Extend is not possible, and not needed: behind an event source mapping a queue hides messages for several times the
// function's timeout. The lease in the row is what counts.
func (*item) Extend(context.Context, time.Duration) error { return core.ErrCannotExtend }
