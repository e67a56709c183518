package pulltest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/internal/queues"
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
		c := s.count(t, s.install(t, queues.SQS).Server.Address())
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

// TestTenThousandJobsTakeElevenHundredCalls: what the tick finds due in a few passes it publishes in batches that are
// full. The service here only answers: moto looks at each message of a queue for each one that it takes.
func TestTenThousandJobsTakeElevenHundredCalls(t *testing.T) {
	const jobs, most = 10_000, 1_100
	s := newStage(t)
	c := s.answering(t)
	for range jobs / 1_000 {
		batch := make([]core.NewJob, 1_000)
		for n := range batch {
			batch[n] = job("echo", "{}", core.Priorities[n%len(core.Priorities)])
		}
		s.submit(t, batch...)
	}
	stop := s.tick(t, tick.WindowCeiling)
	sent := func() (n int) { c.look(func() { n = c.sent }); return n }
	eventually(t, func() bool { return sent() >= jobs }, func() string { return fmt.Sprint("sent are ", sent()) })
	stop()
	c.check(t, jobs, most)
}

// check holds the calls that published against their bound. Where a machine under load let dispatch leases pass, messages
// went out again, and these may have taken a call each.
func (c *counter) check(t *testing.T, jobs, most int) {
	t.Helper()
	c.look(func() {
		calls := c.calls["SendMessageBatch"] + c.calls["SendMessage"]
		t.Logf("%d jobs went out in %d messages and %d calls", jobs, c.sent, calls)
		if again := c.sent - jobs; again < 0 || calls > most+again {
			t.Errorf("%d messages in %d calls, want %d in at most %d", c.sent, calls, jobs, most)
		}
	})
}

// TestPublishedJobsAreDone: the same with workers, in groups of which each is done before the next comes. On moto, which
// says that what was published can be received.
func TestPublishedJobsAreDone(t *testing.T) {
	const group, maxPerGroup = 200, 22
	groups := 5
	if os.Getenv("BELFRY_TEST_LARGE") != "" {
		groups = 50 // minutes
	}
	s := newStage(t)
	c := s.count(t, s.install(t, queues.SQS).Server.Address())
	s.tick(t, tick.WindowCeiling)
	w := s.start(t, "ecs", "BELFRY_LOG_LEVEL=warn")
	for i := range groups {
		batch := make([]core.NewJob, group)
		for n := range batch {
			batch[n] = job("echo", "{}", core.Priorities[i%len(core.Priorities)])
		}
		ids := s.submit(t, batch...)
		eventually(t, func() bool {
			ended, err := s.store.Ended(t.Context(), ids)
			if err != nil {
				t.Fatal(err)
			}
			return len(ended) == len(ids)
		}, func() string {
			states := map[string]int{}
			for _, id := range ids {
				j, err := s.store.Get(t.Context(), id)
				states[fmt.Sprint(j.Status, j.Attempts, j.Dispatches, err)]++
			}
			c.look(func() { t.Logf("sent %d received %d calls %v", c.sent, c.received, c.calls) })
			return fmt.Sprintf("group %d of %d is not done: %v", i+1, groups, states)
		})
	}
	w.stop(t)
	c.check(t, groups*group, groups*maxPerGroup)
}
