package gcp

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/belfry-dev/belfry/core"
)

func subscribe(t *testing.T, q core.Queue) core.Subscription {
	t.Helper()
	sub, err := q.OpenSubscription(t.Context(), core.Default)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Close(context.Background()) })
	return sub
}

func receive(t *testing.T, sub core.Subscription, max int) []core.Delivery {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := sub.Receive(ctx, max)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); {
		if time.Now().After(deadline) {
			t.Fatal("it does not come")
		}
		<-time.After(10 * time.Millisecond)
	}
}

// faulty is a server for this test only that refuses one method.
func faulty(t *testing.T, method string, code codes.Code) string {
	t.Helper()
	server := pstest.NewServer(pstest.WithErrorInjection(method, code, "injected"))
	t.Cleanup(func() { _ = server.Close() })
	return server.Addr
}

// Ack returns before the acknowledgement is sent. If it fails, the next Receive returns the error, and the worker opens
// another subscription. A late acknowledgement is no error: the message belongs to another consumer by then.
func TestAFailedAcknowledgementIsToldByTheNextReceive(t *testing.T) {
	t.Parallel()
	for code, dies := range map[codes.Code]bool{codes.PermissionDenied: true, codes.InvalidArgument: false} {
		var calls atomic.Int64
		address := reacting(t, "Acknowledge", func(any) (bool, any, error) {
			calls.Add(1)
			return true, nil, status.Error(code, "injected")
		})
		q := open(t, address, QueueOptions{}, false)
		q.publish(t, core.Default, core.Message{ID: 1, Priority: core.Default}.Encode())
		sub := subscribe(t, q).(*subscription)
		if err := receive(t, sub, 1)[0].Ack(t.Context()); err != nil {
			t.Error(err)
		}
		if dies {
			eventually(t, func() bool { return sub.failure() != nil })
			if _, err := sub.Receive(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "acknowledge") {
				t.Errorf("%s: Receive: %v", code, err)
			}
			continue
		}
		eventually(t, func() bool { return calls.Load() == 1 })
		q.publish(t, core.Default, []byte("{}"))
		receive(t, sub, 1) // the acknowledgement's answer has arrived, or arrives soon
		if err := sub.acks.Close(t.Context()); err != nil || sub.failure() != nil {
			t.Errorf("%s: %v, %v", code, err, sub.failure())
		}
	}
}

func TestExtendTellsWhatTheServiceSays(t *testing.T) {
	t.Parallel()
	q := open(t, faulty(t, "ModifyAckDeadline", codes.FailedPrecondition), QueueOptions{}, false)
	q.publish(t, core.Default, []byte("{}"))
	d := receive(t, subscribe(t, q), 1)[0]
	if err := d.Extend(t.Context(), time.Minute); err == nil || !strings.Contains(err.Error(), "injected") {
		t.Errorf("Extend: %v", err)
	}
}

// Receive reports an unavailable service at once, and the worker decides when to try again.
func TestReceiveDoesNotTryForAMinuteByItself(t *testing.T) {
	t.Parallel()
	q := open(t, faulty(t, "Pull", codes.Unavailable), QueueOptions{}, false)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := subscribe(t, q).Receive(ctx, 1); err == nil || ctx.Err() != nil {
		t.Errorf("Receive: %v", err)
	}
}

// Without dead letters an unreadable message would come again for days.
func TestRejectEndsAMessageWhereThereAreNoDeadLetters(t *testing.T) {
	t.Parallel()
	q := open(t, inProcess(t), QueueOptions{Visibility: time.Second, RejectAfter: time.Second}, false)
	q.publish(t, core.Default, []byte("not ours"))
	sub := subscribe(t, q)
	if err := receive(t, sub, 1)[0].(core.Rejecter).Reject(t.Context()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if got, err := sub.Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it came again: %d, %v", len(got), err)
	}
}

// A message received before anyone asks for it uses up its deadline and its deliveries.
func TestNothingIsReceivedAhead(t *testing.T) {
	t.Parallel()
	var most atomic.Int64
	q := open(t, reacting(t, "Pull", func(req any) (bool, any, error) {
		most.Store(int64(req.(*pubsubpb.PullRequest).GetMaxMessages()))
		return false, nil, nil
	}), QueueOptions{}, false)
	for range 10 {
		q.publish(t, core.Default, []byte("{}"))
	}
	if got := receive(t, subscribe(t, q), 3); len(got) > 3 || most.Load() != 3 {
		t.Errorf("%d came, %d were asked for, want 3", len(got), most.Load())
	}
	if got := receive(t, subscribe(t, q), 10); len(got) < 7 {
		t.Errorf("another subscription finds %d, want the other 7", len(got))
	}
}

func TestWhatComesWhenNobodyWaitsIsGivenBackAtOnce(t *testing.T) {
	t.Parallel()
	var given atomic.Int64
	address := reacting(t, "ModifyAckDeadline", func(any) (bool, any, error) {
		given.Add(1)
		return false, nil, nil
	})
	q := open(t, address, QueueOptions{}, false)
	sub := subscribe(t, q)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := sub.Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	q.publish(t, core.Default, []byte("{}")) // during the call, which the server holds for half a second
	eventually(t, func() bool { return given.Load() == 1 })
	soon, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if got, err := subscribe(t, q).Receive(soon, 1); err != nil || len(got) != 1 {
		t.Errorf("before the 10 s of the subscription are over: %d, %v", len(got), err)
	}
}

// A host's lease overrides the subscription's deadline before a message is passed on.
func TestVisibilityOfTheHostGoesBeforeTheSubscriptions(t *testing.T) {
	t.Parallel()
	var deadline atomic.Int64
	q := open(t, reacting(t, "ModifyAckDeadline", func(req any) (bool, any, error) {
		deadline.Store(int64(req.(*pubsubpb.ModifyAckDeadlineRequest).GetAckDeadlineSeconds()))
		return false, nil, nil
	}), QueueOptions{Visibility: 77 * time.Second}, false)
	q.publish(t, core.Default, []byte("{}"))
	if receive(t, subscribe(t, q), 1); deadline.Load() != 77 {
		t.Errorf("the deadline was set to %d s, want 77", deadline.Load())
	}
}

// Emulators answer at once if there are no messages. The next call waits a moment.
func TestEmptyAnswersAreNotHurried(t *testing.T) {
	t.Parallel()
	var pulls atomic.Int64
	q := open(t, reacting(t, "Pull", func(any) (bool, any, error) {
		pulls.Add(1)
		return true, &pubsubpb.PullResponse{}, nil
	}), QueueOptions{}, false)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := subscribe(t, q).Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if n := pulls.Load(); n < 2 || n > 15 {
		t.Errorf("%d calls in 5 s", n)
	}
}

func TestOpenQueueRefuses(t *testing.T) {
	const good = "gcppubsubv2://projects/p/topics/t"
	for url, say := range map[string]string{
		"":                            "critical",
		"mem://critical":              "gcppubsub",
		"kafka://topic":               "offsets",
		"nats://subject":              "at most once",
		"gcppubsubv2://":              "projects/PROJECT",
		"gcppubsubv2://projects/p/t":  "projects/PROJECT",
		good + "?color=red":           "color",
		good + "?subscription=":       "subscription",
		"gcppubsub://only-a-project/": "projects/PROJECT",
	} {
		_, err := OpenQueue(t.Context(), map[core.Priority]string{core.Critical: url, core.Default: good, core.Bulk: good}, QueueOptions{})
		if err == nil || !strings.Contains(err.Error(), say) || !strings.Contains(err.Error(), "critical") {
			t.Errorf("%q: got %v, want %q", url, err, say)
		}
	}
	for _, v := range []time.Duration{-time.Second, 601 * time.Second, 1500 * time.Millisecond} {
		if _, err := OpenQueue(t.Context(), map[core.Priority]string{core.Critical: good, core.Default: good, core.Bulk: good}, QueueOptions{Visibility: v}); err == nil {
			t.Errorf("visibility %s is not refused", v)
		}
	}
}

func TestURLsNameTopicAndSubscription(t *testing.T) {
	for url, want := range map[string][2]string{
		"gcppubsubv2://projects/p/topics/t": {"t", "projects/p/subscriptions/t"},
		"gcppubsub://p/t":                   {"t", "projects/p/subscriptions/t"},
		"gcppubsub://p/t?subscription=s":    {"t", "projects/p/subscriptions/s"},
		"gcppubsubv2://projects/p/topics/t?subscription=projects/p/subscriptions/s": {"t", "projects/p/subscriptions/s"},
	} {
		at, err := newPlace(url)
		if err != nil || at.project != "p" || at.topic != want[0] || at.subscription != want[1] {
			t.Errorf("%s: %+v, %v", url, at, err)
		}
	}
}
