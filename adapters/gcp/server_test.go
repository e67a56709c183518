package gcp

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	google "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"cloud.google.com/go/pubsub/v2/pstest"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil { // most of the time they wait for deadlines
		panic(err)
	}
	m.Run()
}

const project = "belfry-test"

// emulator returns the address of the gcloud SDK's server.
func emulator(t *testing.T) string { return testenv.PubSub(t) }

// inProcess returns the address of the client library's own server, used by this test only.
func inProcess(t *testing.T) string {
	t.Helper()
	server := pstest.NewServer()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.Addr
}

// testQueue is a Queue whose subscriptions use a connection that the test can cut.
type testQueue struct {
	*Queue
	direct *Queue
	line   *line
	admin  *google.Client
	prefix string

	mu   sync.Mutex
	dead map[core.Priority][]string
}

// open creates topics, subscriptions and dead letters on a server, and opens them.
func open(t *testing.T, address string, opts QueueOptions, deadLetters bool) *testQueue {
	t.Helper()
	q := &testQueue{line: newLine(t, address), prefix: "q" + strings.ToLower(rand.Text()), dead: map[core.Priority][]string{}}
	admin, err := google.NewClient(t.Context(), project, dialOptions(address)...)
	if err != nil {
		t.Fatal(err)
	}
	q.admin = admin
	t.Cleanup(func() { _ = admin.Close() })
	urls, direct := map[core.Priority]string{}, map[core.Priority]string{}
	for _, p := range core.Priorities {
		urls[p] = fmt.Sprintf("gcppubsubv2://%s?subscription=%s-s&emulator=%s", q.topicOf(p), q.name(p), q.line.address)
		direct[p] = strings.Replace(urls[p], q.line.address, address, 1)
		subscription := &pubsubpb.Subscription{Name: q.subscriptionOf(p), Topic: q.topicOf(p), AckDeadlineSeconds: 10}
		if deadLetters {
			q.create(t, q.topicOf(p)+"-dead", &pubsubpb.Subscription{Name: q.subscriptionOf(p) + "-dead", Topic: q.topicOf(p) + "-dead", AckDeadlineSeconds: 600})
			subscription.DeadLetterPolicy = &pubsubpb.DeadLetterPolicy{DeadLetterTopic: q.topicOf(p) + "-dead", MaxDeliveryAttempts: 5}
		}
		q.create(t, q.topicOf(p), subscription)
	}
	if q.Queue, err = OpenQueue(t.Context(), urls, opts); err != nil {
		t.Fatal(err)
	}
	if q.direct, err = OpenQueue(t.Context(), direct, opts); err != nil {
		t.Fatal(err)
	}
	return q
}

func (q *testQueue) name(p core.Priority) string { return q.prefix + "-" + p.String() }
func (q *testQueue) topicOf(p core.Priority) string {
	return "projects/" + project + "/topics/" + q.name(p)
}
func (q *testQueue) subscriptionOf(p core.Priority) string {
	return "projects/" + project + "/subscriptions/" + q.name(p) + "-s"
}

func (q *testQueue) create(t *testing.T, topic string, subscription *pubsubpb.Subscription) {
	t.Helper()
	if _, err := q.admin.TopicAdminClient.CreateTopic(t.Context(), &pubsubpb.Topic{Name: topic}); err != nil {
		t.Fatal(err)
	}
	if _, err := q.admin.SubscriptionAdminClient.CreateSubscription(t.Context(), subscription); err != nil {
		t.Fatal(err)
	}
}

func (q *testQueue) OpenTopic(ctx context.Context, p core.Priority) (core.Topic, error) {
	return q.direct.OpenTopic(ctx, p)
}

// OpenSubscription restores the connection, so that subscriptions opened after a break work.
func (q *testQueue) OpenSubscription(ctx context.Context, p core.Priority) (core.Subscription, error) {
	q.line.mend()
	return q.Queue.OpenSubscription(ctx, p)
}

func (q *testQueue) publish(t *testing.T, p core.Priority, body []byte) {
	t.Helper()
	req := &pubsubpb.PublishRequest{Topic: q.topicOf(p), Messages: []*pubsubpb.PubsubMessage{{Data: body}}}
	if _, err := q.admin.TopicAdminClient.Publish(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

// deadLetters returns every message that ever was a dead letter of a priority.
func (q *testQueue) deadLetters(t *testing.T, p core.Priority) []string {
	t.Helper()
	req := &pubsubpb.PullRequest{Subscription: q.subscriptionOf(p) + "-dead", MaxMessages: 10, ReturnImmediately: true} //nolint:staticcheck // there is no other way to look
	res, err := q.admin.SubscriptionAdminClient.Pull(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range res.GetReceivedMessages() {
		q.dead[p] = append(q.dead[p], string(m.GetMessage().GetData()))
	}
	return slices.Clone(q.dead[p])
}

// line forwards connections to a server until it is cut.
type line struct {
	address, target string

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
	done  sync.WaitGroup
}

func newLine(t *testing.T, target string) *line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{address: listener.Addr().String(), target: target, conns: map[net.Conn]bool{}}
	l.done.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			l.done.Go(func() { l.carry(conn) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		l.breakOff()
		l.done.Wait()
	})
	return l
}

func (l *line) carry(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", l.target)
	if err != nil {
		return
	}
	defer far.Close()
	if !l.keep(near, far) {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(near, far)
		near.Close()
	})
	_, _ = io.Copy(far, near)
	far.Close()
	back.Wait()
}

// keep records connections that a cut must close. It returns false if the line is cut.
func (l *line) keep(conns ...net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		l.conns[c] = true
	}
	return !l.cut
}

func (l *line) breakOff() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for c := range l.conns {
		c.Close()
		delete(l.conns, c)
	}
}

func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
}

// reactor is called for each call of a method. If it returns false, the server answers.
type reactor func(req any) (answered bool, answer any, err error)

func (r reactor) React(req any) (bool, any, error) { return r(req) }

// reacting is a server for this test only, with a reactor for a method.
func reacting(t *testing.T, method string, react reactor) string {
	t.Helper()
	server := pstest.NewServer(pstest.ServerReactorOption{FuncName: method, Reactor: react})
	t.Cleanup(func() { _ = server.Close() })
	return server.Addr
}
