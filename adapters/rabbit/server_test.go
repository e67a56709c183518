package rabbit

import (
	"context"
	"crypto/rand"
	"flag"
	"slices"
	"strings"
	"sync"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // most of the time they wait
		panic(err)
	}
	m.Run()
}

// testQueue is a Queue with direct access to the server.
type testQueue struct {
	*Queue
	stranger *connection

	mu   sync.Mutex
	subs []*subscription
	dead []string
}

// open opens queues with names of this test's own on a server. They are deleted when the test ends.
func open(t *testing.T, server string, opts QueueOptions) *testQueue {
	t.Helper()
	name, urls := "test."+strings.ToLower(rand.Text()), map[core.Priority]string{}
	for _, p := range core.Priorities {
		urls[p] = server + "?queue=" + name + "." + p.String()
	}
	queue, err := OpenQueue(t.Context(), urls, opts)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if ch, err := stranger.Channel(); err == nil {
			for _, at := range queue.places {
				_, _ = ch.QueueDelete(at.queue, false, false, false)
				_, _ = ch.QueueDelete(at.dead(), false, false, false)
			}
		}
		_ = stranger.hangUp(context.Background())
	})
	return &testQueue{Queue: queue, stranger: stranger}
}

func (q *testQueue) OpenSubscription(ctx context.Context, p core.Priority) (core.Subscription, error) {
	sub, err := q.Queue.OpenSubscription(ctx, p)
	if err == nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.subs = append(q.subs, sub.(*subscription))
	}
	return sub, err
}

// breakOff cuts the open subscriptions' connections of a priority.
func (q *testQueue) breakOff(p core.Priority) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.subs {
		if s.place == q.places[p] {
			s.conn.cut()
		}
	}
}

func (q *testQueue) channel(t *testing.T) *amqp.Channel {
	t.Helper()
	ch, err := q.stranger.confirming()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func (q *testQueue) publish(t *testing.T, p core.Priority, body []byte) {
	t.Helper()
	ch := q.channel(t)
	defer ch.Close()
	c, err := ch.PublishWithDeferredConfirmWithContext(t.Context(), "", q.places[p].queue, true, false, persistent(body))
	if err != nil {
		t.Fatal(err)
	}
	if taken, err := c.WaitContext(t.Context()); err != nil || !taken {
		t.Fatal(taken, err)
	}
}

// deadLetters returns every message that ever was a dead letter of a priority.
func (q *testQueue) deadLetters(t *testing.T, p core.Priority) []string {
	t.Helper()
	ch := q.channel(t)
	defer ch.Close()
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		d, ok, err := ch.Get(q.places[p].dead(), true)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return slices.Clone(q.dead)
		}
		q.dead = append(q.dead, string(d.Body))
	}
}

func server(t *testing.T) string { return testenv.Rabbit(t) }
