package aws

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-dev/belfry/core"
)

// BatchStore is what messages that were not started are handed back to.
type BatchStore interface {
	Start(ctx context.Context, refs []core.Ref, req core.ClaimRequest) (core.StartResult, error)
	Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error)
}

// BatchWorker works on the events of an SQS queue.
type BatchWorker struct {
	Store BatchStore
	ID    string        // names the worker in rows
	Lease time.Duration // of rows on their way back
	// Grace is how long running jobs may go on near the function's deadline, before they are told to stop and handed
	// back. It shrinks to a sixteenth of the time that there is.
	Grace time.Duration
	// Work runs the jobs that queue's messages name until ctx ends, then stops as work.Worker does, within twice grace
	// and half a second. It leaves nothing running. Most, unless zero, is the longest that an attempt may take: who has had
	// that and is not done would have to begin anew in each invocation, so it ends as timed out.
	Work func(ctx context.Context, queue core.Queue, grace, most time.Duration) error
}

// Serve runs the jobs of one event and answers which messages SQS is to keep: those that no worker can read, and those
// whose row could not be written. All else is in the rows: errors, panics, jobs that took nearly all the time of an
// invocation and are not done, which have timed out, and jobs that began too late for that, which go back uncounted and
// are dispatched again. The error of Work comes with the answer, for the log.
func (w *BatchWorker) Serve(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	batch := NewBatch(event)
	var margin, most time.Duration
	grace := w.Grace
	if deadline, ok := ctx.Deadline(); ok {
		all := time.Until(deadline)
		grace = min(grace, all/16)
		margin = min(2*time.Second, all/8) // for the rows of what was not started, and the answer
		most = all - stopping(grace) - margin - min(10*time.Second, all/8)
	}
	work, stop := BeforeDeadline(ctx, stopping(grace)+margin)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-batch.Done():
		case <-work.Done():
		}
		batch.End()
		stop()
	}()
	err := w.Work(work, batch, grace, most)
	stop()
	<-ended
	last, cancel := BeforeDeadline(ctx, margin/4)
	defer cancel()
	if back := w.handBack(last, batch); back != nil && err == nil {
		err = back
	}
	return batch.Failures(), err
}

// stopping is how long a worker takes to stop.
func stopping(grace time.Duration) time.Duration { return 2*grace + 500*time.Millisecond }

// handBack returns the rows of messages that were left to the scheduler: they are started, and ended uncounted.
func (w *BatchWorker) handBack(ctx context.Context, b *Batch) error {
	refs, byRef := b.leftRefs()
	if len(refs) == 0 {
		return nil
	}
	res, err := w.Store.Start(ctx, refs, core.ClaimRequest{WorkerID: w.ID, ClaimID: rand.Int64(), Lease: w.Lease})
	if err != nil {
		return fmt.Errorf("aws: hand back: %w", err)
	}
	undone := map[int64]bool{} // rows that are not written
	for _, ref := range res.Busy {
		undone[ref.ID] = true
	}
	ends := make([]core.End, len(res.Jobs))
	for i := range res.Jobs {
		undone[res.Jobs[i].ID] = true
		ends[i] = core.End{Ref: core.Ref{ID: res.Jobs[i].ID, Token: res.Jobs[i].LeaseToken}, Outcome: core.EndHandBack}
	}
	if len(ends) > 0 {
		var answers []core.EndAnswer
		answers, err = w.Store.Finish(ctx, ends)
		for i, a := range answers {
			if !a.Busy {
				delete(undone, ends[i].ID)
			}
		}
	}
	for ref, items := range byRef {
		if undone[ref.ID] {
			continue
		}
		for _, i := range items {
			_ = i.Ack(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("aws: hand back: %w", err)
	}
	return nil
}

// leftRefs are the rows that the messages left over name.
func (b *Batch) leftRefs() (refs []core.Ref, byRef map[core.Ref][]*item) {
	b.mu.Lock()
	defer b.mu.Unlock()
	byRef = map[core.Ref][]*item{}
	for _, i := range b.items {
		if i.state != left {
			continue
		}
		m, err := core.DecodeMessage(i.body)
		if err != nil {
			continue // it was never read; it comes again
		}
		ref := core.Ref{ID: m.ID, Token: m.Token}
		if byRef[ref] == nil {
			refs = append(refs, ref)
		}
		byRef[ref] = append(byRef[ref], i)
	}
	return refs, byRef
}
