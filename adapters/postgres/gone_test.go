package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/pgserver"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// sessionsOfOthers are the backends of this database but for the one that asks.
const sessionsOfOthers = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"

// endings are ways in which the connections of a pool come to be gone between two calls. Each returns once they are.
var endings = map[string]func(t *testing.T, admin *pgx.Conn){
	"terminated": func(t *testing.T, admin *pgx.Conn) {
		before := value[[]int32](t, admin, "SELECT coalesce(array_agg(pid), '{}') "+sessionsOfOthers)
		script(t, admin, "SELECT pg_terminate_backend(pid) "+sessionsOfOthers)
		awaitCondition(t, func() bool {
			return value[int](t, admin, "SELECT count(*)::integer "+sessionsOfOthers+" AND pid = ANY ($1)", before) == 0
		})
	},
	"terminated this very moment": func(t *testing.T, admin *pgx.Conn) {
		script(t, admin, "SELECT pg_terminate_backend(pid) "+sessionsOfOthers)
	},
	"idle for too long": func(t *testing.T, admin *pgx.Conn) {
		awaitCondition(t, func() bool { return value[int](t, admin, "SELECT count(*)::integer "+sessionsOfOthers) == 0 })
	},
}

// A pooled connection that is gone costs the caller nothing.
func TestConnectionsThatAreGone(t *testing.T) {
	for name, end := range endings {
		for _, way := range []string{"straight", "through PgBouncer"} {
			t.Run(name+", "+way, func(t *testing.T) {
				direct := migrated(t)
				address := direct
				if way != "straight" {
					address = testenv.PgBouncer(t, direct)
				}
				store := open(t, address)
				admin := connect(t, direct)
				if name == "idle for too long" {
					database := strings.TrimPrefix(must(url.Parse(direct)).Path, "/")
					script(t, admin, `ALTER DATABASE "`+database+`" SET idle_session_timeout = '150ms'`)
					script(t, admin, "SELECT pg_terminate_backend(pid) "+sessionsOfOthers)
				}
				for round := range 6 {
					end(t, admin)
					callAtOnce(t, store, fmt.Sprint(name, " round ", round))
				}
			})
		}
	}
}

// broke is what PgBouncer says where a session ended without a word of the server's: nobody knows what was done.
const broke = "server connection closed (SQLSTATE 08P01)"

// callAtOnce makes calls of all kinds at the same time. Those that may not be sent twice can end with what PgBouncer says of a
// session that ended under it; all others succeed.
func callAtOnce(t *testing.T, store core.Store, round string) {
	t.Helper()
	var calls sync.WaitGroup
	call := func(what string, do func() error) {
		calls.Go(func() {
			err := do()
			if once := what == "submit" || what == "submit with a key" || what == "a type"; once && errors.Is(err, core.ErrUnavailable) && strings.HasSuffix(err.Error(), broke) {
				t.Logf("%s: %s: %v", round, what, err)
			} else if err != nil {
				t.Errorf("%s: %s: %v", round, what, err)
			}
		})
	}
	for i := range 3 {
		call("submit", func() error { return second(store.Submit(t.Context(), []core.NewJob{{Type: "a"}})) })
		call("submit with a key", func() error {
			out, err := store.Submit(t.Context(), []core.NewJob{{Type: "a", DedupeKey: fmt.Sprint(round, i)}})
			if err == nil && out[0].Existing != nil {
				err = fmt.Errorf("it is told to be its own duplicate: %+v", out[0])
			}
			return err
		})
		call("submit once", func() error { return submitOnce(t.Context(), store, fmt.Sprint(round, i), core.NewJob{Type: "a"}) })
		call("submit once, in a group", func() error {
			key := core.IdempotencyKey{Key: fmt.Sprint(round, i, "of a group"), Keep: time.Hour}
			answers, err := store.SubmitOnceEach(t.Context(), []core.OnceCall{{Key: key, Job: core.NewJob{Type: "a"}}})
			if err == nil {
				err = answers[0].Err
			}
			return err
		})
		call("list", func() error { return second(store.List(t.Context(), core.ListQuery{Limit: 10})) })
		call("tick", func() error { return second(store.Tick(t.Context(), core.TickRequest{Holder: "h"})) })
		call("readiness", func() error { return store.Ping(t.Context()) })
		call("a type", func() error { return second3(store.PutType(t.Context(), core.JobType{Name: fmt.Sprint("t", i)})) })
	}
	calls.Wait()
}

// No job is written twice by a repetition: of jobs without a key as many are there as were answered.
func TestNoJobIsWrittenTwiceWhereConnectionsEnd(t *testing.T) {
	address := migrated(t)
	store := open(t, address)
	admin := connect(t, address)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var killer sync.WaitGroup
	killer.Go(func() {
		for ctx.Err() == nil {
			_, _ = admin.Exec(context.WithoutCancel(ctx), "SELECT pg_terminate_backend(pid) "+sessionsOfOthers)
		}
	})
	answered, unknown := 0, 0
	for range 400 {
		if _, err := store.Submit(t.Context(), []core.NewJob{{Type: "a"}}); err == nil {
			answered++
		} else {
			unknown++
		}
	}
	stop()
	killer.Wait()
	written := value[int](t, connect(t, address), "SELECT count(*)::integer FROM belfry.jobs")
	if written < answered || written > answered+unknown {
		t.Errorf("%d jobs for %d answers and %d calls of which nobody knows", written, answered, unknown)
	}
	t.Logf("%d answered, %d unknown, %d written", answered, unknown, written)
}

// A server that was started again between two calls, or that another took over from, costs nothing either.
func TestServerThatWasStartedAgainBetweenCalls(t *testing.T) {
	server := testenv.PostgresServer(t, pgserver.Options{})
	if err := postgres.Migrate(t.Context(), server.URL()); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"straight", "through PgBouncer"} {
		address := server.URL()
		if way != "straight" {
			address = testenv.PgBouncer(t, address)
		}
		store := open(t, address)
		for _, mode := range []pgserver.StopMode{pgserver.Fast, pgserver.Immediate} {
			callAtOnce(t, store, way+", before a stop that is "+string(mode))
			if err := server.Stop(mode); err != nil {
				t.Fatal(err)
			}
			if err := server.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if way != "straight" { // it needs a moment to look again
				awaitCondition(t, func() bool { return store.Ping(t.Context()) == nil })
			}
			callAtOnce(t, store, way+", after a stop that was "+string(mode))
		}
	}
}

// What was sent and may have been done is sent again only if that does no harm.
func TestWhatMayHaveBeenDone(t *testing.T) {
	address := migrated(t)
	admin := connect(t, address)
	script(t, admin, `CREATE FUNCTION public.crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN new; END $$;
CREATE TRIGGER crash BEFORE INSERT ON belfry.jobs FOR EACH ROW WHEN (new.type = 'sleep') EXECUTE FUNCTION public.crash()`)
	store := open(t, address)
	answer := make(chan error, 1)
	go func() {
		answer <- second(store.Submit(context.WithoutCancel(t.Context()), []core.NewJob{{Type: "sleep"}}))
	}()
	asleep := "SELECT coalesce(max(pid), 0)::integer " + sessionsOfOthers + " AND wait_event = 'PgSleep'"
	last := 0
	for range 3 { // the server says each time that it rolled back
		awaitCondition(t, func() bool { pid := value[int](t, admin, asleep); return pid != 0 && pid != last })
		last = value[int](t, admin, asleep)
		script(t, admin, fmt.Sprintf("SELECT pg_terminate_backend(%d)", last))
	}
	if err := <-answer; err == nil {
		t.Error("it cannot have been written")
	}
	if n := value[int](t, admin, "SELECT count(*)::integer FROM belfry.jobs"); n != 0 {
		t.Errorf("%d jobs were written", n)
	}
}
