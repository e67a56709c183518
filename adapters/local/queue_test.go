package local

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"gocloud.dev/pubsub"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuetest"
)

func TestQueue(t *testing.T) {
	queuetest.Run(t, queuetest.Harness{
		Open: func(t *testing.T) core.Queue {
			q, err := Open(nil)
			if err != nil {
				t.Fatal(err)
			}
			return q
		},
		Visibility: visibility,
		Publish: func(t *testing.T, q core.Queue, p core.Priority, body []byte) {
			opened, err := q.OpenTopic(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if err := opened.(*topic).portable.Send(t.Context(), &pubsub.Message{Body: body}); err != nil {
				t.Fatal(err)
			}
			if err := opened.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		Break: func(t *testing.T, q core.Queue, p core.Priority) {
			q.(*Queue).memories[p.String()].fail(errors.New("connection reset"))
		},
		Wrap: func(t *testing.T, test func(*testing.T)) { synctest.Test(t, test) },
	})
}

func TestFaultyQueueKeepsTheContract(t *testing.T) {
	queuetest.Run(t, queuetest.Harness{
		Open: func(t *testing.T) core.Queue {
			q, err := Open(nil)
			if err != nil {
				t.Fatal(err)
			}
			return queuetest.NewFaulty(q)
		},
		Visibility: visibility,
		Break:      func(_ *testing.T, q core.Queue, p core.Priority) { q.(*queuetest.Faulty).BreakSubscriptions(p) },
		Wrap:       func(t *testing.T, test func(*testing.T)) { synctest.Test(t, test) },
	})
}

func TestOpenRefusesWhatIsNoMemURL(t *testing.T) {
	for _, url := range []string{"", "://", "mem://", "awssqs://sqs.eu-west-1.amazonaws.com/1/q", "mem://q?ackdeadline=-1s", "mem://q?ackdeadline=soon", "mem://q?color=red"} {
		if _, err := Open(map[core.Priority]string{core.Critical: url, core.Default: "mem://d", core.Bulk: "mem://b"}); err == nil {
			t.Errorf("Open with %q as the critical queue gave no error", url)
		}
	}
}

func TestAckDeadlineIsTheVisibilityTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, err := Open(map[core.Priority]string{core.Critical: "mem://c", core.Default: "mem://d?ackdeadline=7s", core.Bulk: "mem://b"})
		if err != nil {
			t.Fatal(err)
		}
		topic, err := q.OpenTopic(t.Context(), core.Default)
		if err != nil {
			t.Fatal(err)
		}
		sub, err := q.OpenSubscription(t.Context(), core.Default)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range topic.Send(t.Context(), []core.Message{{ID: 1, Priority: core.Default}}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now() // the bubble's clock
		for range 2 {
			if _, err := sub.Receive(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
		}
		if got := time.Since(began); got != 7*time.Second {
			t.Errorf("the message came again after %s, want 7 s", got)
		}
		if err := errors.Join(sub.Close(context.Background()), topic.Close(context.Background())); err != nil {
			t.Error(err)
		}
	})
}
