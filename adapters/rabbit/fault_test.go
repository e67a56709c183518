package rabbit

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

func messages(n int) []core.Message {
	all := make([]core.Message, n)
	for i := range all {
		all[i] = core.Message{ID: int64(i + 1), Token: 1, Priority: core.Default, Type: "echo"}
	}
	return all
}

func openTopic(t *testing.T, q *testQueue) *topic {
	t.Helper()
	opened, err := q.OpenTopic(t.Context(), core.Default)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close(context.Background()) })
	return opened.(*topic)
}

func openSubscription(t *testing.T, q *testQueue) core.Subscription {
	t.Helper()
	sub, err := q.OpenSubscription(t.Context(), core.Default)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Close(context.Background()) })
	return sub
}

func failures(errs []error) (n int) {
	for _, err := range errs {
		if err != nil {
			n++
		}
	}
	return n
}

// ready counts the messages without a consumer.
func (q *testQueue) ready(t *testing.T, p core.Priority) int {
	t.Helper()
	ch := q.channel(t)
	defer ch.Close()
	queue, err := ch.QueueDeclarePassive(q.places[p].queue, true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return queue.Messages
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

func TestATopicConnectsAgain(t *testing.T) {
	t.Parallel()
	q := open(t, server(t), QueueOptions{})
	topic := openTopic(t, q)
	for range 3 {
		topic.conn.cut()
		eventually(t, func() bool { return failures(topic.Send(t.Context(), messages(5))) == 0 })
	}
	if got := q.ready(t, core.Default); got < 15 {
		t.Errorf("%d messages are there, want at least 15", got)
	}
}

// The server confirms a message that no queue takes. Such a message is not published.
func TestWhatNoQueueTakesIsNotPublished(t *testing.T) {
	t.Parallel()
	q := open(t, server(t), QueueOptions{})
	topic := openTopic(t, q)
	ch := q.channel(t)
	if _, err := ch.QueueDelete(q.places[core.Default].queue, false, false, false); err != nil {
		t.Fatal(err)
	}
	errs := topic.Send(t.Context(), messages(20))
	for i, err := range errs {
		if !errors.Is(err, errNoQueue) {
			t.Errorf("message %d: %v, want that the queue is gone", i, err)
		}
	}
	if n := failures(topic.Send(t.Context(), messages(20))); n != 0 || q.ready(t, core.Default) != 20 {
		t.Errorf("the next Send, which declares the queue again: %d failed, %d are there", n, q.ready(t, core.Default))
	}
}

// line forwards connections to a server until it hangs: then it drops everything without an error.
type line struct {
	address string
	hung    chan struct{}
}

func newLine(t *testing.T, server string) *line {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := u.Host
	u.Host = listener.Addr().String()
	l := &line{address: u.String(), hung: make(chan struct{})}
	ended := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", target)
			if err != nil {
				near.Close()
				return
			}
			all.Go(func() { l.carry(near, far) })
			all.Go(func() { l.carry(far, near) })
			all.Go(func() {
				<-ended
				near.Close()
				far.Close()
			})
		}
	})
	t.Cleanup(func() {
		close(ended)
		listener.Close()
		all.Wait()
	})
	return l
}

func (l *line) carry(to, from net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		select {
		case <-l.hung:
			_, _ = io.Copy(io.Discard, from)
			return
		default:
		}
		if err != nil {
			to.Close()
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// A server that takes messages and never answers holds a Send only until its context ends, and does not hold Close.
func TestAServerThatHangsHoldsNobody(t *testing.T) {
	t.Parallel()
	l := newLine(t, server(t))
	q := open(t, server(t), QueueOptions{})
	for p, at := range q.places {
		at.server = l.address
		q.places[p] = at
	}
	topic, sub := openTopic(t, q), openSubscription(t, q)
	close(l.hung)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if n := failures(topic.Send(ctx, messages(10))); n != 10 {
		t.Errorf("%d of 10 messages are unknown", n)
	}
	if topic.conn != nil {
		t.Error("a connection that owes answers is kept")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	var closing sync.WaitGroup
	done := make(chan struct{})
	closing.Go(func() { _ = sub.Close(ended) })
	closing.Go(func() { _ = topic.Close(ended) })
	go func() {
		closing.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second): // far longer than the second that hangUp may take
		t.Error("Close waits for the server")
	}
}

// When a server stops, topics and subscriptions get an error.
func TestAServerThatStops(t *testing.T) {
	t.Parallel()
	server := testenv.RabbitServer(t)
	q := open(t, server.Address(), QueueOptions{})
	topic, sub := openTopic(t, q), openSubscription(t, q)
	if n := failures(topic.Send(t.Context(), messages(3))); n != 0 {
		t.Fatalf("%d failed", n)
	}
	got, err := sub.Receive(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for err = error(nil); err == nil; {
		_, err = sub.Receive(ctx, 1)
	}
	if ctx.Err() != nil {
		t.Error("Receive does not notice")
	}
	if err := got[0].Ack(t.Context()); err == nil {
		t.Error("an acknowledgement without a connection gave no error")
	}
	if n := failures(topic.Send(ctx, messages(3))); n != 3 {
		t.Errorf("%d of 3 messages are unknown", n)
	}
}

// A message received before anyone asks for it would be kept from others as long as the worker lives.
func TestNothingIsReceivedAhead(t *testing.T) {
	t.Parallel()
	q := open(t, server(t), QueueOptions{})
	if n := failures(openTopic(t, q).Send(t.Context(), messages(50))); n != 0 {
		t.Fatalf("%d failed", n)
	}
	sub, in := openSubscription(t, q), 0
	for _, most := range []int{1, 5, 20} {
		got, err := sub.Receive(t.Context(), most)
		if err != nil {
			t.Fatal(err)
		}
		in += len(got)
		if n := q.ready(t, core.Default); n != 50-in {
			t.Errorf("after %d of 50 were handed out %d are left", in, n)
		}
	}
}

// A message released with a delay exists once: its copy does, and the original is gone.
func TestAReleasedMessageIsThereOnce(t *testing.T) {
	t.Parallel()
	q := open(t, server(t), QueueOptions{})
	if n := failures(openTopic(t, q).Send(t.Context(), messages(200))); n != 0 {
		t.Fatalf("%d failed", n)
	}
	sub := openSubscription(t, q)
	for in := 0; in < 200; {
		got, err := sub.Receive(t.Context(), 200-in)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range got {
			if err := d.Release(t.Context(), 15*time.Second); err != nil {
				t.Fatal(err)
			}
		}
		in += len(got)
	}
	if err := sub.Close(t.Context()); err != nil { // all are on their way by now
		t.Fatal(err)
	}
	again := openSubscription(t, q)
	soon, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if got, err := again.Receive(soon, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d originals are still there, %v", len(got), err)
	}
	eventually(t, func() bool { return q.ready(t, core.Default) == 200 })
}

func TestStepped(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		1:                       100 * time.Millisecond,
		500 * time.Millisecond:  500 * time.Millisecond,
		501 * time.Millisecond:  600 * time.Millisecond,
		time.Second:             time.Second,
		1001 * time.Millisecond: 2 * time.Second,
		61 * time.Second:        70 * time.Second,
		48 * time.Hour:          maxDelay,
	} {
		if got := stepped(d); got != want {
			t.Errorf("%s becomes %s, want %s", d, got, want)
		}
	}
}

func TestOpenQueueRefuses(t *testing.T) {
	for url, say := range map[string]string{
		"":                                  "critical",
		"mem://critical":                    "amqp",
		"kafka://topic":                     "offsets",
		"nats://subject":                    "at most once",
		"rabbit://exchange":                 "amqp://",
		"amqp://u:canary@host?queue=":       "queue",
		"amqp://u:canary@host?queue=amq.x":  "amq",
		"amqp://u:canary#x@host/":           "not a URL",
		"amqp://u:canary@host:0x1/":         "not a URL",
		"amqp://u:canary@host?heartbeat=no": "heartbeat",
		"amqp://host?queue=belfry.default":  "own",
	} {
		_, err := OpenQueue(t.Context(), map[core.Priority]string{core.Critical: url, core.Default: "amqp://host", core.Bulk: "amqp://host"}, QueueOptions{})
		if err == nil || !strings.Contains(err.Error(), say) || !strings.Contains(err.Error(), "critical") {
			t.Errorf("%q: got %v, want %q", url, err, say)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("the error repeats the password: %v", err)
		}
	}
}

func TestAnUnreachableServerIsToldWithoutItsPassword(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	at := "amqp://user:canary@" + address
	q, err := OpenQueue(t.Context(), map[core.Priority]string{core.Critical: at, core.Default: at, core.Bulk: at}, QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, open := range []func() error{
		func() error { _, err := q.OpenTopic(t.Context(), core.Bulk); return err },
		func() error { _, err := q.OpenSubscription(t.Context(), core.Bulk); return err },
	} {
		if err := open(); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("got %v", err)
		}
	}
}
