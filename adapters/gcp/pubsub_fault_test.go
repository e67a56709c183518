package gcp

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/pstest"
	"google.golang.org/grpc/codes"

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

// faulty is a server of this test alone that refuses one method.
func faulty(t *testing.T, method string, code codes.Code) string {
	t.Helper()
	server := pstest.NewServer(pstest.WithErrorInjection(method, code, "injected"))
	t.Cleanup(func() { _ = server.Close() })
	return server.Addr
}

// An acknowledgement that fails is answered long ago. The subscription says so, and the worker opens another. One
// that comes too late is no failure: the message is another's by then.
func TestAFailedAcknowledgementIsToldByTheNextReceive(t *testing.T) {
	t.Parallel()
	for code, dies := range map[codes.Code]bool{codes.PermissionDenied: true, codes.InvalidArgument: false} {
		q := open(t, faulty(t, "Acknowledge", code), QueueOptions{}, false)
		q.publish(t, core.Default, core.Message{ID: 1, Priority: core.Default}.Encode())
		sub := subscribe(t, q)
		if err := receive(t, sub, 1)[0].Ack(t.Context()); err != nil {
			t.Error(err)
		}
		if !dies {
			if err := sub.Close(t.Context()); err != nil || sub.(*subscription).err != nil {
				t.Errorf("%s: %v, %v", code, err, sub.(*subscription).err)
			}
			continue
		}
		eventually(t, func() bool { return sub.(*subscription).failure() != nil })
		if _, err := sub.Receive(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "acknowledge") {
			t.Errorf("%s: Receive: %v", code, err)
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

// A service that is not there is told at once: the worker decides when to try again.
func TestReceiveDoesNotTryForAMinuteByItself(t *testing.T) {
	t.Parallel()
	q := open(t, faulty(t, "Pull", codes.Unavailable), QueueOptions{}, false)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := subscribe(t, q).Receive(ctx, 1); err == nil || ctx.Err() != nil {
		t.Errorf("Receive: %v", err)
	}
}

// Without dead letters a message that nobody can read would come again for days.
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

// What is received ahead of who asks for it uses up its deadline and its deliveries.
func TestNothingIsReceivedAhead(t *testing.T) {
	t.Parallel()
	q := open(t, inProcess(t), QueueOptions{}, false)
	for range 10 {
		q.publish(t, core.Default, []byte("{}"))
	}
	if got := receive(t, subscribe(t, q), 3); len(got) > 3 {
		t.Errorf("%d came", len(got))
	}
	if got := receive(t, subscribe(t, q), 10); len(got) < 7 {
		t.Errorf("another one finds %d, want the 7 that nobody asked for", len(got))
	}
}

func TestWhatComesWhenNobodyWaitsIsGivenBackAtOnce(t *testing.T) {
	t.Parallel()
	q := open(t, inProcess(t), QueueOptions{}, false)
	sub := subscribe(t, q)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := sub.Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	q.publish(t, core.Default, []byte("{}")) // while the call is still on its way
	soon, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if got, err := subscribe(t, q).Receive(soon, 1); err != nil || len(got) != 1 {
		t.Errorf("before the 10 s of the subscription are over: %d, %v", len(got), err)
	}
}

// Emulators answer at once when there is nothing. They are not asked again at once.
func TestEmptyAnswersAreNotHurried(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	pulls := 0
	server := pstest.NewServer(pstest.ServerReactorOption{FuncName: "Pull", Reactor: reactor(func() {
		mu.Lock()
		defer mu.Unlock()
		pulls++
	})})
	t.Cleanup(func() { _ = server.Close() })
	q := open(t, server.Addr, QueueOptions{}, false)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := subscribe(t, q).Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if pulls < 2 || pulls > 15 {
		t.Errorf("%d calls in 5 s", pulls)
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
