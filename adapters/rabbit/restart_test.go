package rabbit

import (
	"context"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// A server is killed while messages are being sent, and started again. It still has every message that it confirmed,
// including waiting ones, ones that a worker held, and the last ones. The topic and the worker reconnect.
func TestAServerThatIsKilledKeepsWhatItConfirmed(t *testing.T) {
	t.Parallel()
	server := testenv.RabbitServer(t)
	q := open(t, server.Address(), QueueOptions{})
	topic, sub := openTopic(t, q), openSubscription(t, q)
	due := map[int64]bool{} // confirmed and not acknowledged
	next := int64(0)
	send := func(ctx context.Context) (confirmed int) {
		batch := messages(20)
		for i := range batch {
			next++
			batch[i].ID = next
		}
		for i, err := range topic.Send(ctx, batch) {
			if err == nil {
				due[batch[i].ID] = true
				confirmed++
			}
		}
		return confirmed
	}
	for range 5 {
		if send(t.Context()) != 20 {
			t.Fatal("a server that runs does not confirm all")
		}
	}
	held, err := sub.Receive(t.Context(), 30)
	if err != nil || len(held) < 2 {
		t.Fatal(len(held), err)
	}
	killed := make(chan error, 1)
	// RabbitMQ keeps the declaration of a queue in memory for up to two seconds: a server killed earlier forgets the queue.
	time.AfterFunc(5*time.Second, func() { killed <- server.Kill() })
	for send(t.Context()) == 20 { // until the server dies
	}
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	if err := held[0].Ack(t.Context()); err == nil { // the connection is gone
		if _, err = sub.Receive(t.Context(), 1); err == nil {
			t.Error("the subscription does not notice")
		}
	}
	_ = sub.Close(t.Context())
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return send(t.Context()) == 20 })

	for tries := 0; len(due) > 0 && tries < 3; tries++ { // a minute each: a killed server may take long
		t.Logf("%d of %d to come", len(due), next)
		receive(t, openSubscription(t, q), due)
	}
	if len(due) > 0 {
		t.Errorf("%d confirmed messages do not come", len(due))
	}
}

// receive acknowledges messages and removes them from due, until all have arrived or a minute has passed.
func receive(t *testing.T, sub core.Subscription, due map[int64]bool) {
	t.Helper()
	defer func() { _ = sub.Close(t.Context()) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for len(due) > 0 {
		got, err := sub.Receive(ctx, 100)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range got {
			m, err := core.DecodeMessage(d.Body())
			if err != nil {
				t.Fatal(err)
			}
			delete(due, m.ID)
			if err := d.Ack(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
}
