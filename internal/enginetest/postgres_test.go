package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/work"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// patience is how long a test on a real server waits for what must come.
const patience = 30 * time.Second

func openPostgres(t *testing.T) (store core.Store, url string) {
	t.Helper()
	url = testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store, url
}

// Two processes, each with a ticker and a worker, share a database; their topics are their own, so that each runs
// what its ticker dispatched. One leaves half way. Every job runs once.
func TestQueueModeOnPostgres(t *testing.T) {
	store, _ := openPostgres(t)
	var mu sync.Mutex
	entered := map[int64]int{}
	done := make(chan struct{}, 10_000)
	handle := core.HandlerFunc(func(_ context.Context, job *core.Job) (json.RawMessage, error) {
		mu.Lock()
		entered[job.ID]++
		mu.Unlock()
		done <- struct{}{}
		return nil, nil
	})
	process := func(name string) (stop func()) {
		queue, err := local.Open(nil)
		if err != nil {
			t.Fatal(err)
		}
		topics := map[core.Priority]core.Topic{}
		for _, p := range core.Priorities {
			if topics[p], err = queue.OpenTopic(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		worker, err := work.New(store, core.Handlers{"echo": handle}, work.Options{ID: name, Slots: 100})
		if err != nil {
			t.Fatal(err)
		}
		stopTicker := run(t, newTicker(t, store, tick.Options{Holder: name, Topics: topics, Period: 50 * time.Millisecond, LeaseLength: time.Second,
			Dispatch: tick.DispatchOptions{Lease: time.Second}})) // what is left in a topic that is gone comes again soon
		ctx, cancel := context.WithCancel(t.Context())
		var working sync.WaitGroup
		working.Go(func() {
			if err := worker.Receive(ctx, queue); err != nil {
				t.Errorf("Receive: %v", err)
			}
		})
		var once sync.Once
		stop = func() {
			once.Do(func() {
				stopTicker()
				cancel()
				working.Wait()
				for _, topic := range topics {
					if err := topic.Close(context.Background()); err != nil {
						t.Errorf("close the topic: %v", err)
					}
				}
			})
		}
		t.Cleanup(stop)
		return stop
	}
	wait := func(n int) {
		t.Helper()
		timeout := time.After(patience)
		for range n {
			select {
			case <-done:
			case <-timeout:
				mu.Lock()
				defer mu.Unlock()
				t.Fatalf("%d jobs were entered in %s", len(entered), patience)
			}
		}
	}
	stopFirst, stopSecond := process("first"), process("second")
	var ids []int64
	for _, p := range core.Priorities {
		ids = append(ids, submitJobs(t, store, 300, core.NewJob{Priority: p})...)
	}
	wait(500)
	stopFirst()
	ids = append(ids, submitJobs(t, store, 300, core.NewJob{})...)
	wait(len(ids) - 500)
	stopSecond()
	for _, id := range ids {
		if job := get(t, store, id); job.Status != core.Done || job.Attempts != 1 || entered[id] != 1 {
			t.Fatalf("job %d is %s after %d attempts, its handler entered %d times; want done, 1, 1", id, job.Status, job.Attempts, entered[id])
		}
	}
}

// A real server becomes read-only, as a standby is, and comes back.
func TestTickerOnAReadOnlyPostgres(t *testing.T) {
	store, url := openPostgres(t)
	told := make(chan tick.Event, 1000)
	stop := run(t, newTicker(t, store, tick.Options{Period: 20 * time.Millisecond, LeaseLength: time.Second, OnEvent: func(e tick.Event) { told <- e }}))
	await := func(kind tick.EventKind) tick.Event {
		t.Helper()
		timeout := time.After(patience)
		for {
			select {
			case e := <-told:
				if e.Kind == kind {
					return e
				}
			case <-timeout:
				t.Fatalf("not told %q in %s", kind, patience)
			}
		}
	}
	await(tick.Maintained) // it is in office
	readOnly(t, url, "on")
	for e := await(tick.TickFailed); !errors.Is(e.Err, core.ErrReadOnly); {
		e = await(tick.TickFailed) // that its session was cut off may come first
	}
	readOnly(t, url, "off")
	await(tick.TickRecovered)
	stop()
}

// readOnly makes all sessions of a database read-only, those open now by cutting them off.
func readOnly(t *testing.T, url, value string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, statement := range []string{
		"SET default_transaction_read_only = off",
		"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = " + value + "', current_database()); END $$",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
	} {
		if _, err := conn.Exec(ctx, statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatal(err)
		}
	}
}
