package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuetest"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/work"
)

// works is a store with queue, topics and what was sent and run through them.
type works struct {
	*testing.T
	store  *watched
	queue  *queuetest.Faulty
	from   core.Queue // what workers receive from: queue, or those of groups
	topics map[core.Priority]core.Topic

	mu      sync.Mutex
	sent    map[core.Ref]int // messages handed to topics, by id and token
	entered map[int64]int    // handlers entered, by job
	byType  map[string]int
}

func newWorks(t *testing.T) *works {
	t.Helper()
	memory, err := local.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &works{
		T: t, store: watch(openStore(t, nil)), queue: queuetest.NewFaulty(memory), topics: map[core.Priority]core.Topic{},
		sent: map[core.Ref]int{}, entered: map[int64]int{}, byType: map[string]int{},
	}
	w.from = w.queue
	for _, p := range core.Priorities {
		topic, err := w.queue.OpenTopic(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := topic.Close(context.Background()); err != nil {
				t.Errorf("close the topic: %v", err)
			}
		})
		w.topics[p] = counted{topic, w}
	}
	return w
}

// counted notes what is sent, whatever becomes of it.
type counted struct {
	core.Topic
	works *works
}

func (c counted) Send(ctx context.Context, messages []core.Message) []error {
	c.works.mu.Lock()
	for _, m := range messages {
		c.works.sent[core.Ref{ID: m.ID, Token: m.Token}]++
	}
	c.works.mu.Unlock()
	return c.Topic.Send(ctx, messages)
}

// times says how often the message of a job was sent, and fails when it was sent under several tokens.
func (w *works) times(id int64) (n int) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	tokens := 0
	for ref, times := range w.sent {
		if ref.ID == id {
			n, tokens = n+times, tokens+1
		}
	}
	if tokens > 1 {
		w.Errorf("job %d was published under %d tokens", id, tokens)
	}
	return n
}

func (w *works) ticker(holder string, change func(*tick.Options)) *tick.Ticker {
	w.Helper()
	opts := tick.Options{Holder: holder, Topics: w.topics, Unannounced: true} // these tests take messages by hand
	if change != nil {
		change(&opts)
	}
	return newTicker(w.T, w.store, opts)
}

// begin puts a fresh ticker into office: its first pass only learns what is there.
func (w *works) begin(holder string) *tick.Ticker {
	w.Helper()
	ticker := w.ticker(holder, nil)
	tickOnce(w.T, ticker)
	return ticker
}

// work runs a worker on the queue. Its handlers take a while; jobs of type fail fail the first time.
func (w *works) work(id string, slots int, while time.Duration) (stop func()) {
	w.Helper()
	handle := core.HandlerFunc(func(ctx context.Context, job *core.Job) (json.RawMessage, error) {
		w.mu.Lock()
		w.entered[job.ID]++
		w.byType[job.Type]++
		first := w.entered[job.ID] == 1
		w.mu.Unlock()
		time.Sleep(while/2 + while*time.Duration(job.ID*37%101)/100) // around while, spread
		if job.Type == "fail" && first {
			return nil, core.RetryAfter(errors.New("the first time it fails"), time.Second)
		}
		return nil, nil
	})
	worker, err := work.New(w.store, core.Handlers{"echo": handle, "fail": handle, "critical": handle, "bulk": handle}, work.Options{ID: id, Slots: slots})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := worker.Receive(ctx, w.from); err != nil {
			w.Errorf("Receive: %v", err)
		}
	})
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			running.Wait()
		})
	}
	w.Cleanup(stop)
	return stop
}

// ended checks that all jobs are done, each handler entered once and charged once.
func (w *works) ended(ids []int64) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	faults := 0
	for _, id := range ids {
		job, err := w.store.Get(context.Background(), id)
		if err != nil {
			w.Fatal(err)
		}
		if job.Status != core.Done || job.Attempts != 1 || w.entered[id] != 1 {
			if faults++; faults <= 5 {
				w.Errorf("job %d is %s after %d attempts, its handler entered %d times; want done, 1, 1", id, job.Status, job.Attempts, w.entered[id])
			}
		}
	}
}

// hand takes n messages out of a queue as a worker does that has no slot for them.
func (w *works) hand(p core.Priority, n int) (core.Subscription, []core.Delivery) {
	w.Helper()
	sub, err := w.queue.OpenSubscription(w.Context(), p)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = sub.Close(context.Background()) })
	ctx, cancel := context.WithTimeout(w.Context(), time.Second)
	defer cancel()
	var all []core.Delivery
	for len(all) < n {
		got, err := sub.Receive(ctx, n-len(all))
		if err != nil {
			w.Fatalf("after %d of %d messages: %v", len(all), n, err)
		}
		all = append(all, got...)
	}
	return sub, all
}

func bubble(t *testing.T, test func(*works)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newWorks(t)) })
}

func TestQueueModeRunsEveryJobOnce(t *testing.T) {
	bubble(t, func(w *works) {
		var ids []int64
		for _, p := range core.Priorities {
			ids = append(ids, submitJobs(w.T, w.store, 200, core.NewJob{Priority: p})...)
			ids = append(ids, submitJobs(w.T, w.store, 50, core.NewJob{Priority: p, Delay: 3500 * time.Millisecond})...)
		}
		failing := submitJobs(w.T, w.store, 20, core.NewJob{Type: "fail"})
		stopTicker := run(w.T, w.ticker("a", nil))
		stopWorker := w.work("worker", 100, 20*time.Millisecond)
		time.Sleep(10 * time.Second)
		stopWorker()
		stopTicker()
		w.ended(ids)
		for _, id := range failing {
			if job := get(w.T, w.store, id); job.Status != core.Done || job.Attempts != 2 {
				w.Errorf("job %d, which fails once, is %s after %d attempts, want done after 2", id, job.Status, job.Attempts)
			}
		}
	})
}

// A job that becomes due between two passes does not wait for the next whole second.
func TestQueueModeStartsJobsWhenTheyAreDue(t *testing.T) {
	bubble(t, func(w *works) {
		stopTicker := run(w.T, w.ticker("a", nil))
		stopWorker := w.work("worker", 10, 0)
		time.Sleep(2500 * time.Millisecond)
		id := submitJobs(w.T, w.store, 1, core.NewJob{Delay: 2700 * time.Millisecond})[0]
		time.Sleep(5 * time.Second)
		stopWorker()
		stopTicker()
		job := get(w.T, w.store, id)
		if lag := job.StartedAt.Sub(job.RunAt); lag < 0 || lag > 50*time.Millisecond {
			w.Errorf("it started %s after it was due", lag)
		}
	})
}

// Nobody consumes for far more than ten dispatch leases. Messages are repeated ever more rarely under the same
// token, no attempt is burnt, and then each job runs once.
func TestAPausedConsumerBurnsNothing(t *testing.T) {
	bubble(t, func(w *works) {
		ids := submitJobs(w.T, w.store, 50, core.NewJob{})
		stopTicker := run(w.T, w.ticker("a", nil))
		time.Sleep(20 * time.Minute)
		for _, id := range ids {
			job, times := get(w.T, w.store, id), w.times(id)
			if job.Status != core.Queued || job.Attempts != 0 || job.LeaseToken != 0 {
				w.Fatalf("job %d is %s with %d attempts under token %d, want queued, 0 and 0", id, job.Status, job.Attempts, job.LeaseToken)
			}
			// After 0 s, 10 s, 30 s, 70 s, 150 s, 310 s, then every 5 min: 8 or 9 times in 20 min.
			if times < 8 || times > 9 {
				w.Fatalf("job %d was published %d times in 20 minutes, want 8 or 9: its dispatch lease doubles", id, times)
			}
		}
		stopWorker := w.work("worker", 10, 10*time.Millisecond)
		time.Sleep(5 * time.Second)
		stopWorker()
		stopTicker()
		w.ended(ids)
	})
}

// A paused consumer finds a window, not the backlog, and the ticker does not hurry beside it.
func TestTheBacklogStaysInTheTable(t *testing.T) {
	bubble(t, func(w *works) {
		ids := submitJobs(w.T, w.store, 1000, core.NewJob{})
		stopTicker := run(w.T, w.ticker("a", nil))
		time.Sleep(30 * time.Second)
		w.mu.Lock()
		queued := len(w.sent)
		w.mu.Unlock()
		if queued != tick.WindowFloor {
			w.Errorf("%d jobs are in the queue of a priority nobody consumes, want a window of %d", queued, tick.WindowFloor)
		}
		if n := w.store.count("Tick"); n > 50 {
			w.Errorf("%d passes in 30 s beside consumers that stand still, want about one a second", n)
		}
		stopWorker := w.work("worker", 1000, time.Millisecond)
		time.Sleep(5 * time.Second)
		stopWorker()
		stopTicker()
		w.ended(ids)
	})
}

func TestAFastConsumerIsNotKeptWaitingForTheNextSecond(t *testing.T) {
	bubble(t, func(w *works) {
		ids := submitJobs(w.T, w.store, 2000, core.NewJob{})
		stopTicker := run(w.T, w.ticker("a", nil))
		stopWorker := w.work("worker", 2000, time.Millisecond)
		time.Sleep(3 * time.Second)
		stopWorker()
		stopTicker()
		w.ended(ids)
	})
}

// A type that no worker handles costs no attempt and holds nobody up; it runs once a process announces it. Where consumers
// are known by what they announce nothing of it is published before, else a window or two.
func TestAnUnhandledTypeWaitsForItsHandler(t *testing.T) {
	for unannounced, most := range map[bool]int{false: 0, true: 2 * tick.WindowFloor} {
		t.Run(fmt.Sprint("unannounced types are published: ", unannounced), func(t *testing.T) {
			bubble(t, func(w *works) { unhandledType(w, unannounced, most) })
		})
	}
}

func unhandledType(w *works, unannounced bool, most int) {
	stopTicker := run(w.T, w.ticker("a", func(o *tick.Options) { o.Unannounced = unannounced }))
	stopWorker := w.work("worker", 10, time.Millisecond)
	rare := submitJobs(w.T, w.store, 500, core.NewJob{Type: "rare"})
	time.Sleep(10 * time.Second)
	ids := submitJobs(w.T, w.store, 100, core.NewJob{})
	time.Sleep(3 * time.Second)
	w.ended(ids)
	w.mu.Lock()
	published := 0
	for ref, times := range w.sent {
		if ref.ID <= rare[len(rare)-1] {
			published += times
		}
	}
	w.mu.Unlock()
	if (published > 0) != unannounced || published > most {
		w.Errorf("messages of the unhandled type: %d, want at most %d before it is passed over", published, most)
	}
	handled := make(chan int64, len(rare))
	worker, err := work.New(w.store, core.Handlers{"rare": core.HandlerFunc(func(_ context.Context, job *core.Job) (json.RawMessage, error) {
		handled <- job.ID
		return nil, nil
	})}, work.Options{ID: "rare"})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.Context())
	var working sync.WaitGroup
	working.Go(func() {
		if err := worker.Receive(ctx, w.from); err != nil {
			w.Errorf("Receive: %v", err)
		}
	})
	time.Sleep(3 * time.Second) // beside the worker that takes half of the messages and refuses them
	stopWorker()
	cancel()
	working.Wait()
	stopTicker()
	if len(handled) != len(rare) {
		w.Errorf("%d of %d jobs of the type ran once it was announced", len(handled), len(rare))
	}
	for _, id := range rare {
		if job := get(w.T, w.store, id); job.Status != core.Done || job.Attempts != 1 {
			w.Fatalf("job %d is %s after %d attempts, want done after 1", id, job.Status, job.Attempts)
		}
	}
}

// A worker is killed that had received 1,000 messages and started none: nothing is charged, and after the
// visibility timeout they run elsewhere.
func TestBufferedMessagesOfAKilledWorkerAreNotCharged(t *testing.T) {
	bubble(t, func(w *works) {
		ids := submitJobs(w.T, w.store, 1000, core.NewJob{})
		ticker := w.ticker("a", func(o *tick.Options) {
			o.Dispatch.Concurrency = map[core.Priority]int{core.Default: 500}
		})
		tickOnce(w.T, ticker)
		tickOnce(w.T, ticker)
		w.hand(core.Default, 1000)
		for _, id := range ids {
			if job := get(w.T, w.store, id); job.Status != core.Queued || job.Attempts != 0 {
				w.Fatalf("job %d, merely buffered, is %s with %d attempts", id, job.Status, job.Attempts)
			}
		}
		stopTicker := run(w.T, ticker)
		stopWorker := w.work("other", 100, time.Millisecond)
		time.Sleep(2 * time.Minute)
		stopWorker()
		stopTicker()
		w.ended(ids)
	})
}

// An endless critical backlog: bulk starts at its weight's share of the slots, one in seven.
func TestBulkStartsAtItsShareBesideAnEndlessCriticalBacklog(t *testing.T) {
	bubble(t, func(w *works) {
		submitJobs(w.T, w.store, 2500, core.NewJob{Type: "critical", Priority: core.Critical})
		submitJobs(w.T, w.store, 2500, core.NewJob{Type: "bulk", Priority: core.Bulk})
		stopTicker := run(w.T, w.ticker("a", nil))
		stopWorker := w.work("worker", 70, 500*time.Millisecond)
		starts := func() (critical, bulk int) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.byType["critical"], w.byType["bulk"]
		}
		time.Sleep(2 * time.Second) // both windows are open
		critical0, bulk0 := starts()
		time.Sleep(10 * time.Second)
		critical, bulk := starts()
		stopWorker()
		stopTicker()
		critical, bulk = critical-critical0, bulk-bulk0
		if critical+bulk < 1200 {
			w.Errorf("%d jobs started in 10 s of 70 slots of half a second each, want about 1,400", critical+bulk)
		}
		if share := float64(bulk) / float64(critical+bulk); share < 0.10 || share > 0.19 {
			w.Errorf("bulk had %.3f of the starts (%d beside %d), want about 1/7", share, bulk, critical)
		}
	})
}
