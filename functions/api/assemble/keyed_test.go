package assemble

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// sent counts the messages of each job.
type sent struct {
	core.Queue
	mu  sync.Mutex
	ids map[int64]int
}

func (s *sent) OpenTopic(ctx context.Context, p core.Priority) (core.Topic, error) {
	topic, err := s.Queue.OpenTopic(ctx, p)
	return sentTopic{topic, s}, err
}

type sentTopic struct {
	core.Topic
	sent *sent
}

func (t sentTopic) Send(ctx context.Context, messages []core.Message) []error {
	t.sent.mu.Lock()
	for _, m := range messages {
		t.sent.ids[m.ID]++
	}
	t.sent.mu.Unlock()
	return t.Topic.Send(ctx, messages)
}

// A job under an idempotency key is published at its submit as any other: alone or in a batch, with a dedupe key or without.
// Its repeat publishes nothing.
func TestJobsUnderKeysArePublishedAtTheirSubmit(t *testing.T) {
	for mode, settings := range map[string]boot.Settings{"beside a tick": {Window: 10_000}, "economy": {Window: 10_000, Economy: true}} {
		t.Run(mode, func(t *testing.T) {
			address := testenv.Postgres(t)
			if err := postgres.Migrate(t.Context(), address); err != nil {
				t.Fatal(err)
			}
			store, err := postgres.Open(t.Context(), address, postgres.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			queue, err := local.Open(nil)
			if err != nil {
				t.Fatal(err)
			}
			counted := &sent{Queue: queue, ids: map[int64]int{}}
			d, err := NewDispatcher(t.Context(), store, counted, settings, nil, true)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close(context.Background()) })
			submitKeyed(t, submit.New(d, submit.Options{}), counted)
		})
	}
}

func submitKeyed(t *testing.T, submitter *submit.Submitter, counted *sent) {
	submit := func(key core.IdempotencyKey, jobs []core.NewJob) (core.Once, error) {
		checked := make([]core.CheckedJob, len(jobs))
		for i, job := range jobs {
			var err error
			if checked[i], err = submitter.Check(t.Context(), job, time.Now()); err != nil {
				return core.Once{}, err
			}
		}
		if len(jobs) == 1 {
			return submitter.WriteOneOnce(t.Context(), key, checked[0], func(_ *core.NewJob, s core.Submitted) core.Answer {
				return core.Answer{Status: 201, Body: fmt.Append(nil, s.ID)}
			})
		}
		return submitter.WriteOnce(t.Context(), key, checked, func(jobs []core.Submitted) (core.Answer, error) {
			return core.Answer{Status: 201, Body: fmt.Append(nil, jobs[0].ID)}, nil
		})
	}
	for name, jobs := range map[string][]core.NewJob{
		"one": {{Type: "echo"}}, "one with a dedupe key": {{Type: "echo", DedupeKey: "d"}},
		"a large one": {{Type: "echo", Payload: []byte(`"` + strings.Repeat("x", 20<<10) + `"`)}},
		"a batch":     {{Type: "echo"}, {Type: "echo", Priority: core.Bulk}, {Type: "echo", DedupeKey: "e"}},
		"later":       {{Type: "echo", Delay: time.Hour}},
	} {
		key := core.IdempotencyKey{Key: name, Hash: sha256.Sum256([]byte(name)), Keep: time.Hour}
		once, err := submit(key, jobs)
		if err != nil || once.Replayed || len(once.Jobs) != len(jobs) {
			t.Fatalf("%s: %+v, %v", name, once, err)
		}
		if again, err := submit(key, jobs); err != nil || !again.Replayed || string(again.Answer.Body) != string(once.Answer.Body) {
			t.Errorf("%s again: %+v, %v", name, again, err)
		}
		want := 1
		if name == "later" {
			want = 0
		}
		for _, job := range once.Jobs {
			if n := counted.ids[job.ID]; n != want || (job.Status == core.Queued) != (want == 1) {
				t.Errorf("%s: job %d is %s and was published %d times, want %d", name, job.ID, job.Status, n, want)
			}
		}
	}
}
