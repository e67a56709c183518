package rabbit

import (
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuetest"
)

func TestQueue(t *testing.T) {
	queuetest.Run(t, queuetest.Harness{
		Open: func(t *testing.T) core.Queue {
			return open(t, server(t), QueueOptions{DeliveryLimit: 3})
		},
		Visibility:    time.Second,
		Patience:      30 * time.Second,
		NoVisibility:  true,
		CannotExtend:  true,
		Publish:       func(t *testing.T, q core.Queue, p core.Priority, body []byte) { q.(*testQueue).publish(t, p, body) },
		DeadLetters:   func(t *testing.T, q core.Queue, p core.Priority) []string { return q.(*testQueue).deadLetters(t, p) },
		MaxDeliveries: 3,
		Break:         func(_ *testing.T, q core.Queue, p core.Priority) { q.(*testQueue).breakOff(p) },
		Wrap: func(t *testing.T, test func(*testing.T)) {
			t.Parallel() // most of the time they wait
			test(t)
		},
	})
}
