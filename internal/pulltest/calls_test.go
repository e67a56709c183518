package pulltest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/queues"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// idleFor is two long polls of 20 s, and a little.
const idleFor = 41 * time.Second

// TestAnIdleWorkerMakesOneCallPer20Seconds: for each queue, however many slots are free. A platform that holds a call for
// 20 s is asked so often and no more.
func TestAnIdleWorkerMakesOneCallPer20Seconds(t *testing.T) {
	const most = 3 // that begin in 41 s: at 0, 20 and 40
	check := func(t *testing.T, polls func() map[string]int) {
		eventually(t, func() bool { return len(polls()) == len(core.Priorities) }, func() string { return fmt.Sprint("only these were asked: ", polls()) })
		before := polls()
		<-time.After(idleFor)
		for queue, n := range polls() {
			if n-before[queue] > most {
				t.Errorf("%s: %d calls in %s", queue, n-before[queue], idleFor)
			}
		}
		t.Logf("calls in %s and before: %v", idleFor, polls())
	}
	t.Run("SQS", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		c := s.count(t, s.install(t, queues.SQS, testenv.SQS).Server.Address())
		w := s.start(t, "ecs")
		check(t, func() (polls map[string]int) {
			polls = map[string]int{}
			c.look(func() {
				for queue, n := range c.polls {
					polls[queue] = n
				}
			})
			return polls
		})
		c.look(func() {
			for operation, n := range c.calls {
				if operation != "ReceiveMessage" && n > len(core.Priorities) {
					t.Errorf("%d calls of %s", n, operation)
				}
			}
		})
		w.stop(t)
	})
	t.Run("Pub/Sub", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		service := s.idle(t, 20*time.Second)
		w := s.start(t, "workerpool")
		check(t, func() (polls map[string]int) {
			service.mu.Lock()
			defer service.mu.Unlock()
			polls = map[string]int{}
			for queue, n := range service.pulls {
				polls[queue] = n
			}
			return polls
		})
		w.stop(t)
	})
}

// TestTenThousandJobsTakeElevenHundredCalls: the tick publishes 10,000 jobs that are due, of all priorities, in batches
// that are full, whatever it finds in each of its passes.
func TestTenThousandJobsTakeElevenHundredCalls(t *testing.T) {
	jobs, most := 1_000, 110
	if os.Getenv("BELFRY_TEST_LARGE") != "" {
		jobs, most = 10_000, 1_100 // minutes: moto looks at each message of a queue for each one that it takes
	}
	s := newStage(t)
	c := s.count(t, s.install(t, queues.SQS, testenv.SQS).Server.Address())
	for i := 0; i < jobs; i += 1_000 {
		batch := make([]core.NewJob, 0, 1_000)
		for n := range min(1_000, jobs-i) {
			batch = append(batch, job("echo", "{}", core.Priorities[n%len(core.Priorities)]))
		}
		s.submit(t, batch...)
	}
	stop := s.tick(t, core.WindowCeiling)
	sent := func() (n int) { c.look(func() { n = c.sent }); return n }
	deadline := time.Now().Add(20 * time.Minute)
	for sent() < jobs && time.Now().Before(deadline) {
		<-time.After(50 * time.Millisecond)
	}
	stop()
	c.look(func() {
		calls := c.calls["SendMessageBatch"] + c.calls["SendMessage"]
		t.Logf("%d jobs went out in %d messages and %d calls", jobs, c.sent, calls)
		if c.sent < jobs || calls > most {
			t.Errorf("%d messages in %d calls, want %d in at most %d", c.sent, calls, jobs, most)
		}
	})
}
