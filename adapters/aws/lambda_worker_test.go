package aws

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-dev/belfry/core/work"
)

func eventOf(ids ...string) (e events.SQSEvent) {
	for _, id := range ids {
		e.Records = append(e.Records, events.SQSMessage{MessageId: id, Body: "body of " + id})
	}
	return e
}

// TestBatchTellsWhatToKeep: SQS keeps the messages that are not finished, each by an id of the event. Messages that the
// answer cannot identify are not handled.
func TestBatchTellsWhatToKeep(t *testing.T) {
	broken := errors.New("broken")
	verdicts := []work.Verdict{work.Finished, work.HandedBack, work.Unreadable, work.Unrecorded, work.Abandoned, work.Stopped}
	for name, c := range map[string]struct {
		verdicts []work.Verdict
		err      error
		want     []string
	}{
		"verdicts":           {verdicts, nil, []string{"c", "d", "e", "f"}},
		"verdicts and fault": {verdicts, broken, []string{"c", "d", "e", "f"}},
		"no worker":          {nil, broken, []string{"a", "b", "c", "d", "e", "f"}},
	} {
		w := BatchWorker{Work: func(_ context.Context, messages [][]byte, o work.PushOptions, _, maxTime time.Duration) ([]work.Verdict, error) {
			if len(messages) != 6 || string(messages[5]) != "body of f" || maxTime != 0 || !o.AnswerBy.IsZero() || o.MaxReleases != maxReleases {
				t.Errorf("%s: asked for %q, %+v, at most %s", name, messages, o, maxTime)
			}
			return c.verdicts, c.err
		}}
		answer, err := w.Serve(t.Context(), eventOf("a", "b", "", "c", "a", "d", "", "e", "f", "b"))
		var kept []string
		for _, f := range answer.BatchItemFailures {
			kept = append(kept, f.ItemIdentifier)
		}
		if !slices.Equal(kept, c.want) || !errors.Is(err, c.err) {
			t.Errorf("%s: SQS is to keep %v, %v", name, kept, err)
		}
	}
	w := BatchWorker{Work: func(context.Context, [][]byte, work.PushOptions, time.Duration, time.Duration) ([]work.Verdict, error) {
		return nil, nil
	}}
	answer, _ := w.Serve(t.Context(), eventOf())
	if said, err := json.Marshal(answer); err != nil || string(said) != `{"batchItemFailures":[]}` { // null would make Lambda return the whole batch
		t.Errorf("of an empty event: %s, %v", said, err)
	}
}

// TestBatchLeavesTimeToStop: the worker is stopped early enough to stop in time, and the answer is ready before the
// deadline. An attempt that begins with the invocation ends before the worker is stopped.
func TestBatchLeavesTimeToStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, all := range []time.Duration{3 * time.Second, 30 * time.Second, 15 * time.Minute} {
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), all)
			w := BatchWorker{Grace: 10 * time.Second}
			w.Work = func(ctx context.Context, _ [][]byte, o work.PushOptions, grace, maxTime time.Duration) ([]work.Verdict, error) {
				<-ctx.Done()
				stop := time.Since(began)
				if grace > all/16 || maxTime <= 0 || maxTime >= stop || stop+2*grace+500*time.Millisecond >= o.AnswerBy.Sub(began) || o.AnswerBy.Sub(began) >= all {
					t.Errorf("of %s: stopped after %s with a grace of %s, an attempt may take %s, the answer is due after %s", all, stop, grace, maxTime, o.AnswerBy.Sub(began))
				}
				return nil, nil
			}
			if _, err := w.Serve(ctx, eventOf("a")); err != nil {
				t.Error(err)
			}
			cancel()
		}
	})
}
