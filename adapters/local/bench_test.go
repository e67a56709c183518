package local

import (
	"sync"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// BenchmarkQueue sends, receives and acknowledges as ticker and worker do: in groups of 500 messages, with at most 10,000 in
// the queue.
func BenchmarkQueue(b *testing.B) {
	q, err := Open(nil)
	if err != nil {
		b.Fatal(err)
	}
	topic, err := q.OpenTopic(b.Context(), core.Default)
	if err != nil {
		b.Fatal(err)
	}
	sub, err := q.OpenSubscription(b.Context(), core.Default)
	if err != nil {
		b.Fatal(err)
	}
	group := make([]core.Message, 500)
	for i := range group {
		group[i] = core.Message{ID: int64(i + 1), Token: 1, Priority: core.Default, Type: "echo", Tenant: "acme"}
	}
	window := make(chan struct{}, 10_000/len(group))
	b.ReportAllocs()
	b.ResetTimer()
	var sender sync.WaitGroup
	sender.Go(func() {
		for sent := 0; sent < b.N; sent += len(group) {
			window <- struct{}{}
			for _, err := range topic.Send(b.Context(), group[:min(len(group), b.N-sent)]) {
				if err != nil {
					b.Error(err)
				}
			}
		}
	})
	for received := 0; received < b.N; {
		got, err := sub.Receive(b.Context(), 1000)
		if err != nil {
			b.Fatal(err)
		}
		for _, d := range got {
			if _, err := core.DecodeMessage(d.Body()); err != nil {
				b.Fatal(err)
			}
			if err := d.Ack(b.Context()); err != nil {
				b.Fatal(err)
			}
			if received++; received%len(group) == 0 {
				<-window
			}
		}
	}
	sender.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
	if err := sub.Close(b.Context()); err != nil {
		b.Error(err)
	}
	if err := topic.Close(b.Context()); err != nil {
		b.Error(err)
	}
}
