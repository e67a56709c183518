package scheduletest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/work"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// burst is how many schedules are due in the same second: 100,000 where BELFRY_TEST_LARGE is set.
func burst() int {
	if large() {
		return 100_000
	}
	return 3_000
}

// burstRun is a PostgreSQL with many schedules of which all are due at one instant.
type burstRun struct {
	*testing.T
	store *counting
	conn  *pgx.Conn
	due   time.Time

	mu   sync.Mutex
	lags map[int64]time.Duration // of each job's first message or start
	all  chan struct{}           // closed once each schedule has one
	want int
}

// counting counts what a tick asks of its store.
type counting struct {
	core.Store
	ticks, advances, steps atomic.Int64
}

func (c *counting) Tick(ctx context.Context, req core.TickRequest) (core.TickResult, error) {
	c.ticks.Add(1)
	return c.Store.Tick(ctx, req)
}

func (c *counting) AdvanceSchedules(ctx context.Context, steps []core.Advance, fence []core.Held) ([]core.Advanced, error) {
	c.advances.Add(1)
	c.steps.Add(int64(len(steps)))
	return c.Store.AdvanceSchedules(ctx, steps, fence)
}

// newBurstRun makes n schedules, due in so long.
func newBurstRun(t *testing.T, n int, in string) *burstRun {
	t.Helper()
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close(context.Background())
		_ = store.Close()
	})
	h := &burstRun{T: t, store: &counting{Store: store}, conn: conn, lags: map[int64]time.Duration{}, all: make(chan struct{}), want: n}
	err = conn.QueryRow(t.Context(), `
WITH made AS (
    INSERT INTO belfry.schedules (id, tenant, name, type, rule, created_at, updated_at, anchor, accounted, next_due, tz_data)
    SELECT nextval('belfry.schedule_ids'), '', 'nightly-' || i, 'work', '{"every":"1h0m0s","missed":"once","overlap":"allow","type":"work"}',
           now(), now(), now() + $2::interval - interval '1 h', now() + $2::interval - interval '1 h', now() + $2::interval, $3
    FROM   generate_series(1, $1) i
    RETURNING next_due
) SELECT min(next_due) FROM made`, n, in, schedule.TZDataVersion()).Scan(&h.due)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "ANALYZE belfry.schedules"); err != nil {
		t.Fatal(err)
	}
	return h
}

// began notes a job's first message or start.
func (h *burstRun) began(ids ...int64) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range ids {
		if _, known := h.lags[id]; !known {
			if h.lags[id] = now.Sub(h.due); len(h.lags) == h.want {
				close(h.all)
			}
		}
	}
}

// transactions is what the database has committed.
func (h *burstRun) transactions() (n int64) {
	h.Helper()
	if _, err := h.conn.Exec(h.Context(), "SELECT pg_stat_clear_snapshot()"); err != nil {
		h.Fatal(err)
	}
	if err := h.conn.QueryRow(h.Context(), "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()").Scan(&n); err != nil {
		h.Fatal(err)
	}
	return n
}

// tick runs a ticker until each schedule's job has begun.
func (h *burstRun) tick(topics map[core.Priority]core.Topic, wake func([]core.Lane)) {
	h.Helper()
	ticker, err := tick.New(h.store, tick.Options{Holder: "t", Topics: topics, Wake: wake, OnEvent: func(e tick.Event) {
		switch {
		case errors.Is(e.Err, core.ErrUnavailable): // out of its time, on a machine with much else to do; the next pass does it
			h.Logf("%s: %v", e.Kind, e.Err)
		case e.Err != nil:
			h.Errorf("%s: %v", e.Kind, e.Err)
		}
	}})
	if err != nil {
		h.Fatal(err)
	}
	ctx, stop := context.WithTimeout(h.Context(), 5*time.Minute)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- ticker.Run(ctx) }()
	select {
	case <-h.all:
	case <-ctx.Done():
	}
	stop()
	if err := <-ended; err != nil {
		h.Error(err)
	}
}

// report holds what was made against what was due, and tells how it went.
func (h *burstRun) report(before int64) {
	h.Helper()
	var jobs, rows, left int
	err := h.conn.QueryRow(h.Context(), `SELECT (SELECT count(*) FROM belfry.jobs) + (SELECT count(*) FROM belfry.job_history),
    (SELECT count(*) FROM belfry.occurrences o WHERE o.outcome IN ('fired', 'caught_up') AND o.count = 1 AND o.job_id IS NOT NULL), (SELECT count(*) FROM belfry.schedules WHERE next_due <= $1)`, h.due).Scan(&jobs, &rows, &left)
	if err != nil {
		h.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if jobs != h.want || rows != h.want || left != 0 || len(h.lags) != h.want {
		h.Fatalf("%d schedules: %d jobs, %d ledger rows, %d still due, %d begun", h.want, jobs, rows, left, len(h.lags))
	}
	var lags []time.Duration
	for _, lag := range h.lags {
		lags = append(lags, lag)
	}
	slices.Sort(lags)
	if batches := int64(h.want/1000 + 2); h.store.advances.Load() > batches {
		h.Errorf("%d transactions advanced %d schedules, want at most %d", h.store.advances.Load(), h.want, batches)
	}
	h.Logf("%d schedules due in the same second: lag p50 %s, p99 %s, last %s; %d ticks, %d transactions that advance, %d transactions of the database in all",
		h.want, lags[len(lags)/2].Round(time.Millisecond), lags[len(lags)*99/100].Round(time.Millisecond), lags[len(lags)-1].Round(time.Millisecond),
		h.store.ticks.Load(), h.store.advances.Load(), h.transactions()-before)
}

// toldTopic notes what is sent.
type toldTopic struct {
	core.Topic
	burstRun *burstRun
}

func (t toldTopic) Send(ctx context.Context, messages []core.Message) []error {
	errs := t.Topic.Send(ctx, messages)
	for i, m := range messages {
		if errs[i] == nil {
			t.burstRun.began(m.ID)
		}
	}
	return errs
}

// All schedules due in the same second: every job is made once and handed to the queue.
func TestManyDueAtOnceQueue(t *testing.T) {
	h := newBurstRun(t, burst(), "3 s")
	memory, err := local.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	topics := map[core.Priority]core.Topic{}
	for _, p := range core.Priorities {
		topic, err := memory.OpenTopic(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = topic.Close(context.Background()) })
		topics[p] = toldTopic{topic, h}
	}
	before := h.transactions()
	worker := h.work((*work.Worker).Receive, memory)
	h.tick(topics, nil)
	worker()
	h.report(before)
}

// The same without a queue: workers of the process claim the jobs.
func TestManyDueAtOnceDirect(t *testing.T) {
	h := newBurstRun(t, burst(), "3 s")
	before := h.transactions()
	worker := h.work(func(w *work.Worker, ctx context.Context, _ core.Queue) error { return w.Run(ctx) }, nil)
	h.tick(nil, nil)
	worker()
	h.report(before)
}

// work runs a worker until it is stopped.
func (h *burstRun) work(run func(*work.Worker, context.Context, core.Queue) error, queue core.Queue) (stop func()) {
	h.Helper()
	worker, err := work.New(h.store, core.Handlers{"work": core.HandlerFunc(func(_ context.Context, job *core.Job) (json.RawMessage, error) {
		h.began(job.ID)
		return nil, nil
	})}, work.Options{ID: "w", Slots: 100})
	if err != nil {
		h.Fatal(err)
	}
	ctx, cancel := context.WithCancel(h.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(worker, ctx, queue) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			h.Error(err)
		}
	}
}

// Many schedules that are not due cost an idle tick nothing: one call of the store in each pass.
func TestManyNotDue(t *testing.T) {
	h := newBurstRun(t, burst(), "1 h")
	passes := make(chan struct{}, 100)
	ticker, err := tick.New(h.store, tick.Options{Holder: "t", OnTick: func(tick.Report) { passes <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- ticker.Run(ctx) }()
	<-passes // with leases taken, upkeep, and the look for other time zone databases
	n := 3
	if large() {
		for range 12 { // PostgreSQL counts a session's last transactions up to 10 s late
			<-passes
		}
		n = 20
	}
	began, before, ticks := time.Now(), h.transactions(), h.store.ticks.Load()
	for range n {
		<-passes
	}
	took := time.Since(began)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if made := h.store.ticks.Load() - ticks; made > int64(n)+1 {
		t.Errorf("%d ticks in %d periods", made, n)
	}
	if h.store.advances.Load() != 0 {
		t.Errorf("%d transactions advanced schedules that are not due", h.store.advances.Load())
	}
	t.Logf("%d schedules not due: %d passes in %s, %.2f transactions a second", h.want, n, took.Round(time.Millisecond), float64(h.transactions()-before)/took.Seconds())
}
