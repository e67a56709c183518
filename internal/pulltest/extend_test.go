package pulltest

import (
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/queues"
)

// A lease that is short beside the job, and long beside what a loaded machine makes of a heartbeat.
var shortLease = []string{"BELFRY_LEASE=8s", "BELFRY_HEARTBEAT=1s"}

const longerJob = `{"ms":11000}`

// TestAJobLongerThanItsVisibility: the message stays hidden for as long as the job runs, because the worker extends it;
// it is delivered once, and the job is done once.
func TestAJobLongerThanItsVisibility(t *testing.T) {
	t.Run("SQS", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		c := s.count(t, s.install(t, queues.SQS).Server.Address())
		s.tick(t, 100)
		w := s.start(t, "ecs", shortLease...)
		done := s.until(t, s.submit(t, job("sleep", longerJob, core.Default))[0], is(core.Done))
		w.stop(t)
		if done.Attempts != 1 {
			t.Errorf("it took %d attempts", done.Attempts)
		}
		c.look(func() {
			if c.received != 1 || c.calls["ChangeMessageVisibilityBatch"] == 0 || c.calls["DeleteMessageBatch"] != 1 {
				t.Errorf("%d deliveries, %v", c.received, c.calls)
			}
		})
	})
	t.Run("Pub/Sub", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		server := s.inProcess(t)
		s.tick(t, 100)
		w := s.start(t, "workerpool", shortLease...)
		done := s.until(t, s.submit(t, job("sleep", longerJob, core.Default))[0], is(core.Done))
		w.stop(t)
		if done.Attempts != 1 {
			t.Errorf("it took %d attempts", done.Attempts)
		}
		messages := server.Messages()
		if len(messages) != 1 || messages[0].Deliveries != 1 || messages[0].Acks != 1 || len(messages[0].Modacks) < 2 {
			for _, m := range messages {
				t.Errorf("%d deliveries, %d acknowledgements, deadlines %v", m.Deliveries, m.Acks, m.Modacks)
			}
			t.Errorf("%d messages", len(messages))
		}
	})
}
