package gcp

import (
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuetest"
)

func TestQueueOnTheEmulator(t *testing.T) { conform(t, emulator) }
func TestQueueInProcess(t *testing.T)     { conform(t, inProcess) }

func conform(t *testing.T, server func(*testing.T) string) {
	queuetest.Run(t, queuetest.Harness{
		Open: func(t *testing.T) core.Queue {
			return open(t, server(t), QueueOptions{Visibility: 3 * time.Second, RejectAfter: time.Second}, true)
		},
		Visibility: 3 * time.Second,
		Patience:   60 * time.Second,
		Publish: func(t *testing.T, q core.Queue, p core.Priority, body []byte) {
			q.(*testQueue).publish(t, p, body)
		},
		DeadLetters: func(t *testing.T, q core.Queue, p core.Priority) []string {
			return q.(*testQueue).deadLetters(t, p)
		},
		MaxDeliveries: 5,
		Break:         func(_ *testing.T, q core.Queue, _ core.Priority) { q.(*testQueue).line.breakOff() },
		Wrap: func(t *testing.T, test func(*testing.T)) {
			t.Parallel() // most of the time they wait for deadlines
			test(t)
		},
	})
}
