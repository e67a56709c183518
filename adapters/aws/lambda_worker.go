package aws

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-dev/belfry/core/work"
)

// maxReleases is how often a message is retried within one invocation.
const maxReleases = 3

// BatchWorker handles the events of an SQS queue.
type BatchWorker struct {
	// Grace is how long running jobs may continue near the function's deadline before they are cancelled and handed back. It
	// is at most a sixteenth of the available time.
	Grace time.Duration
	// Work is the Batch method of a work.Worker with this grace. maxTime, unless zero, is the maximum duration of an
	// attempt: a job that used a whole invocation would restart in every later one, so it ends as timed out.
	Work func(ctx context.Context, messages [][]byte, o work.PushOptions, grace, maxTime time.Duration) ([]work.Verdict, error)
}

// Serve runs the jobs of one event. It returns the messages that SQS must keep: those that no worker can read, and those
// whose row could not be written. The rows record everything else. This includes errors and panics, jobs that timed out
// because they took nearly the whole invocation, and jobs that began too late for that. The last ones are handed back
// without an attempt and dispatched again. Serve returns the error of Work together with the answer, for the log.
func (w *BatchWorker) Serve(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	ids, messages := messagesOf(event)
	var margin, maxTime time.Duration
	grace, o := w.Grace, work.PushOptions{MaxReleases: maxReleases}
	if deadline, ok := ctx.Deadline(); ok {
		all := time.Until(deadline)
		grace = min(grace, all/16)
		margin = min(2*time.Second, all/8) // to write the rows of jobs that were not started, and to answer
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

// stopping returns how long a worker takes to stop.
func stopping(grace time.Duration) time.Duration { return 2*grace + 500*time.Millisecond }

// messagesOf returns the messages of an event and their ids. It leaves out messages without an id and repeated ones, because
// the answer could not identify them: a single unknown id makes Lambda return the whole batch.
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
