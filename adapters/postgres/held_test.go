package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
)

// holding is what a stranger's open transaction holds, and what a flood of callers wants of it.
type holding struct {
	name string
	sql  string // of the transaction that stays open; $1 is the job of key "mine" that was submitted before
	want func(context.Context, *victim) error
	// table says that a whole table is held: of the neighbours only those are looked at that do not need it.
	table bool
}

// victim is the store under test, with a small pool.
type victim struct {
	*postgres.Store
	mine, running int64 // jobs
	token         int64 // of the running one
	dead          int64
	ticks, n      atomic.Int64
}

var holdings = []holding{
	{name: "a key", sql: "SELECT belfry.submit('held', dedupe_key => 'K')", want: submitKey("K")},
	{name: "a key, with idempotency keys", sql: "SELECT belfry.submit('held', dedupe_key => 'K')", want: func(ctx context.Context, v *victim) error {
		return submitOnce(ctx, v.Store, fmt.Sprint("i", v.n.Add(1)), core.NewJob{Type: "held", DedupeKey: "K"})
	}},
	{name: "many keys", sql: "SELECT belfry.submit('held', dedupe_key => 'K' || i) FROM generate_series(0, 99) i", want: func(ctx context.Context, v *victim) error {
		return submitKey(fmt.Sprint("K", v.n.Add(1)%100))(ctx, v)
	}},
	{name: "a key of a batch", sql: "SELECT belfry.submit('held', dedupe_key => 'K')", want: func(ctx context.Context, v *victim) error {
		return second(v.Submit(ctx, []core.NewJob{{Type: "held", DedupeKey: fmt.Sprint("free ", v.n.Add(1))}, {Type: "held", DedupeKey: "K"}}))
	}},
	{name: "a cancelled job", sql: "SELECT belfry.cancel($1)", want: func(ctx context.Context, v *victim) error { return second(v.Cancel(ctx, v.mine)) }},
	{name: "the key of a cancelled job", sql: "SELECT belfry.cancel($1)", want: submitKey("mine")},
	{name: "a row", sql: "SELECT FROM belfry.jobs WHERE id = $1 FOR UPDATE", want: func(ctx context.Context, v *victim) error {
		return second(v.Reschedule(ctx, v.mine, core.When{Delay: time.Hour}))
	}},
	{name: "a dead letter", sql: "SELECT FROM belfry.dead_letters WHERE $1::bigint > 0 FOR UPDATE", want: func(ctx context.Context, v *victim) error { return second(v.Retry(ctx, v.dead)) }},
	{name: "a type that is being marked", sql: "SELECT belfry.submit('delivered', target => '{\"url\": \"https://x\"}')", want: func(ctx context.Context, v *victim) error {
		return v.MarkDelivered(ctx, []string{"delivered"})
	}},
	{name: "a type's row", sql: "SELECT FROM belfry.job_types WHERE type = 'typed' FOR UPDATE", want: func(ctx context.Context, v *victim) error {
		return errors.Join(second3(v.PutType(ctx, core.JobType{Name: "typed", MaxAttempts: 3})))
	}},
	{name: "the jobs, for writing", sql: "LOCK TABLE belfry.jobs IN SHARE ROW EXCLUSIVE MODE", want: submitKey("other"), table: true},
	{name: "the jobs", sql: "LOCK TABLE belfry.jobs IN ACCESS EXCLUSIVE MODE", want: func(ctx context.Context, v *victim) error {
		if v.n.Add(1)%2 == 0 {
			return second(v.Get(ctx, v.mine))
		}
		return second(v.Submit(ctx, []core.NewJob{{Type: "plain"}}))
	}, table: true},
}

func submitKey(key string) func(context.Context, *victim) error {
	return func(ctx context.Context, v *victim) error {
		return second(v.Submit(ctx, []core.NewJob{{Type: "held", DedupeKey: key}}))
	}
}

func submitOnce(ctx context.Context, store core.Store, key string, job core.NewJob) error {
	return second(store.SubmitOnce(ctx, core.IdempotencyKey{Holder: "h", Key: key, Keep: time.Hour}, []core.NewJob{job}, func([]core.Submitted) (core.Answer, error) {
		return core.Answer{Status: 201, Body: []byte("{}")}, nil
	}))
}

func second3[T, U any](_ T, _ U, err error) error { return err }

// neighbours are calls that want nothing of what is held. Each must be answered while the flood goes on.
func (v *victim) neighbours(table bool) map[string]func(context.Context) error {
	all := map[string]func(context.Context) error{
		"readiness":       v.Ping,
		"finding a token": func(ctx context.Context) error { return second(v.FindTokens(ctx, []string{"x"})) },
		"listing types":   func(ctx context.Context) error { return second(v.ListTypes(ctx, "", 10)) },
		"putting a type":  func(ctx context.Context) error { return second3(v.PutType(ctx, core.JobType{Name: "free"})) },
	}
	if table {
		return all
	}
	for name, call := range map[string]func(context.Context) error{
		"listing schedules":   func(ctx context.Context) error { return second(v.ListSchedules(ctx, core.ScheduleQuery{Limit: 1})) },
		"another key":         func(ctx context.Context) error { return submitKey(fmt.Sprint("free", v.ticks.Add(1)))(ctx, v) },
		"a job without a key": func(ctx context.Context) error { return second(v.Submit(ctx, []core.NewJob{{Type: "plain"}})) },
		"another, with its own id": func(ctx context.Context) error {
			return submitOnce(ctx, v.Store, fmt.Sprint("j", v.ticks.Add(1)), core.NewJob{Type: "plain", DedupeKey: fmt.Sprint("o", v.ticks.Load())})
		},
		"a list": func(ctx context.Context) error { return second(v.List(ctx, core.ListQuery{Limit: 10})) },
		"a job":  func(ctx context.Context) error { return second(v.Get(ctx, v.mine)) },
		"a tick": func(ctx context.Context) error {
			return second(v.Tick(ctx, core.TickRequest{Holder: "h", ReapLimit: 10, ExpireLimit: 10}))
		},
		"a heartbeat":            v.beat,
		"a claim and its finish": v.claimAndFinish,
		"announcing types": func(ctx context.Context) error {
			return v.Announce(ctx, core.Presence{ID: "w", Types: []string{"plain", "held"}})
		},
		"counting, by another's tick": func(ctx context.Context) error { return v.AddRollups(ctx, 1, nil) },
	} {
		all[name] = call
	}
	return all
}

func (v *victim) beat(ctx context.Context) error {
	beats, err := v.Heartbeat(ctx, []core.Ref{{ID: v.running, Token: v.token}}, time.Minute)
	if err == nil && beats[0] != (core.Beat{}) {
		err = fmt.Errorf("the lease was not extended: %+v", beats[0])
	}
	return err
}

func (v *victim) claimAndFinish(ctx context.Context) error {
	if _, err := v.Submit(ctx, []core.NewJob{{Type: "work"}}); err != nil {
		return err
	}
	claimed, err := v.ClaimDue(ctx, core.ClaimRequest{WorkerID: "w", ClaimID: v.ticks.Add(1), Lease: time.Minute, Quotas: []core.Quota{{Priority: core.Default, Type: "work", Limit: 1}}})
	if err != nil || len(claimed.Jobs) != 1 {
		return fmt.Errorf("%d jobs were claimed, %w", len(claimed.Jobs), err)
	}
	answers, err := v.Finish(ctx, []core.End{{Ref: core.Ref{ID: claimed.Jobs[0].ID, Token: claimed.Jobs[0].LeaseToken}, Outcome: core.EndDone}})
	if err == nil && answers[0].Status != core.Done {
		err = fmt.Errorf("finished as %+v", answers[0])
	}
	return err
}

// prepare makes the jobs that are held and used.
func prepareVictim(t *testing.T, address string, connections int) *victim {
	t.Helper()
	store, err := postgres.Open(t.Context(), address, postgres.Options{PoolSize: connections})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	v := &victim{Store: store}
	out := must(store.Submit(t.Context(), []core.NewJob{{Type: "held", DedupeKey: "mine", Delay: time.Hour}, {Type: "run"}, {Type: "fail", DedupeKey: "dead"}}))
	v.mine = out[0].ID
	claim := func(typ string) core.Job {
		claimed := must(store.ClaimDue(t.Context(), core.ClaimRequest{WorkerID: "w", ClaimID: v.ticks.Add(1), Lease: time.Minute, Quotas: []core.Quota{{Priority: core.Default, Type: typ, Limit: 1}}}))
		return claimed.Jobs[0]
	}
	failed, running := claim("fail"), claim("run")
	v.running, v.token, v.dead = running.ID, running.LeaseToken, failed.ID
	must(store.Finish(t.Context(), []core.End{{Ref: core.Ref{ID: failed.ID, Token: failed.LeaseToken}, Outcome: core.EndFail}}))
	if _, _, err := store.PutType(t.Context(), core.JobType{Name: "typed"}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Tick(t.Context(), core.TickRequest{Holder: "h"}); err != nil {
		t.Fatal(err)
	}
	return v
}

// Whatever a stranger's transaction holds, and however many callers want it: only they are told to come back. Of the
// connections they occupy few while they wait.
func TestWhatIsHeldStopsNobodyElse(t *testing.T) {
	for _, h := range holdings {
		t.Run(h.name, func(t *testing.T) { underFlood(t, h, 4) })
	}
	for _, connections := range []int{2, 12} {
		t.Run(fmt.Sprint(connections, " connections"), func(t *testing.T) { underFlood(t, holdings[0], connections) })
	}
}

func underFlood(t *testing.T, h holding, connections int) {
	address := migrated(t)
	v := prepareVictim(t, address, connections)
	stranger := connect(t, address)
	var args []any
	if strings.Contains(h.sql, "$1") {
		args = append(args, v.mine)
	}
	tx := must(stranger.Begin(t.Context()))
	if _, err := tx.Exec(t.Context(), h.sql, args...); err != nil {
		t.Fatal(err)
	}

	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var flood sync.WaitGroup
	var busy, others atomic.Int64
	for range 40 {
		flood.Go(func() {
			for ctx.Err() == nil {
				if err := h.want(ctx, v); errors.Is(err, core.ErrBusy) {
					busy.Add(1)
				} else if err == nil || ctx.Err() == nil {
					others.Add(1)
				}
			}
		})
	}
	maxWaiting := 0
	watcher := connect(t, address)
	for round := range 8 {
		if round == 4 { // each caller has had its first look by now
			awaitCondition(t, func() bool { return busy.Load() > 0 })
			maxWaiting = 0
		}
		for name, call := range v.neighbours(h.table) {
			bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
			if err := call(bounded); err != nil {
				t.Errorf("round %d: %s: %v", round, name, err)
			}
			cancel()
			maxWaiting = max(maxWaiting, lockWaiters(t, watcher))
		}
	}
	if allowed := max(1, connections/6) + 1; maxWaiting > allowed && !h.table { // one may be at its first look
		t.Errorf("%d sessions waited for locks at once, want %d at most", maxWaiting, allowed)
	}
	stop()
	flood.Wait()
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d were told to come back, %d were answered otherwise, %d sessions at most waited", busy.Load(), others.Load(), maxWaiting)
	if err := h.want(t.Context(), v); errors.Is(err, core.ErrBusy) {
		t.Errorf("once it is free: %v", err)
	}
}

func lockWaiters(t *testing.T, conn *pgx.Conn) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func awaitCondition(t *testing.T, met func() bool) {
	t.Helper()
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for !met() {
		select {
		case <-poll.C:
		case <-deadline.C:
			t.Fatal("it never came to that")
		}
	}
}
