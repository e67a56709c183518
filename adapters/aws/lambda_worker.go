package aws

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-dev/belfry/core/work"
)

// maxReleases is how often a message is tried again within one invocation.
const maxReleases = 3

// BatchWorker works on the events of an SQS queue.
type BatchWorker struct {
	// Grace is how long running jobs may go on near the function's deadline, before they are told to stop and handed
	// back. It shrinks to a sixteenth of the time that there is.
	Grace time.Duration
	// Work is work.Worker's Batch, of a worker with this grace. maxTime, unless zero, is the longest that an attempt may take:
	// a job that used a whole invocation would restart in every later one, so it ends as timed out.
	Work func(ctx context.Context, messages [][]byte, o work.PushOptions, grace, maxTime time.Duration) ([]work.Verdict, error)
}

// Serve runs the jobs of one event and answers which messages SQS is to keep: those that no worker can read, and those
// whose row could not be written. All else is in the rows: errors, panics, jobs that took nearly all the time of an
// invocation and are not done, which have timed out, and jobs that began too late for that, which go back uncounted and
// are dispatched again. The error of Work comes with the answer, for the log.
func (w *BatchWorker) Serve(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	ids, messages := messagesOf(event)
	var margin, maxTime time.Duration
	grace, o := w.Grace, work.PushOptions{MaxReleases: maxReleases}
	if deadline, ok := ctx.Deadline(); ok {
		all := time.Until(deadline)
		grace = min(grace, all/16)
		margin = min(2*time.Second, all/8) // for the rows of what was not started, and the answer
		maxTime = all - stopping(grace) - margin - min(10*time.Second, all/8)
		o.AnswerBy = deadline.Add(-margin / 4)
	}
	working, stop := BeforeDeadline(ctx, stopping(grace)+margin)
	defer stop()
	verdicts, err := w.Work(working, messages, o, grace, maxTime)
	answer := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i, id := range ids {
		if i >= len(verdicts) || !verdicts[i].Done() {
			answer.BatchItemFailures = append(answer.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: id})
		}
	}
	return answer, err
}

// stopping is how long a worker takes to stop.
func stopping(grace time.Duration) time.Duration { return 2*grace + 500*time.Millisecond }

// messagesOf are the messages of an event and their ids. Messages without an id, and repeated ones, are left out: they cannot be
// told apart in the answer, and a single id that is not the event's makes Lambda return the whole batch.
func messagesOf(event events.SQSEvent) (ids []string, messages [][]byte) {
	known := map[string]bool{"": true}
	for _, m := range event.Records {
		if !known[m.MessageId] {
			known[m.MessageId] = true
			ids, messages = append(ids, m.MessageId), append(messages, []byte(m.Body))
		}
	}
	return ids, messages
}
