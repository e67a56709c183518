package rietest

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/counttest"
)

// Transactions of an invocation with nothing to do. A process that has just started reads two things about the schema, two for
// webhooks and the types; it ticks, twice in economy mode, looks for schedules of another time zone database, reads the state and
// gives its leases up. Upkeep, once an hour, is up to 16.
const (
	coldTransactions = 12 + 16
	warmTransactions = 1
)

// TestTickAsksOnce: a warm tick with nothing to do makes one transaction, on the connection that it has, and records the state
// all the same. What SQL submits is found by the next invocation.
func TestTickAsksOnce(t *testing.T) {
	for mode, setting := range map[string]string{"idle": "BELFRY_TICK_IDLE=1m", "economy": "BELFRY_ECONOMY=true"} {
		t.Run(mode, func(t *testing.T) {
			address, store := database(t)
			_, _, env := queues(t)
			proxy := counttest.NewDatabase(t, address)
			var event map[string]any
			document(t, "schedule.json", &event)
			tick := start(t, "tick", 110, append(env, "BELFRY_DATABASE_URL="+proxy.URL, "BELFRY_LOG_LEVEL=info", "BELFRY_LOG_FORMAT=json", setting)...)
			invoke := func() (transactions, connections int64) {
				if said := string(tick.invoke(t, event)); said != "null" {
					t.Fatalf("the tick answers %s", said)
				}
				return proxy.Transactions.Swap(0), proxy.Connections.Swap(0)
			}
			if n, connections := invoke(); n > coldTransactions || connections > 2 {
				t.Errorf("a process that starts makes %d transactions on %d connections", n, connections)
			}
			for range 3 {
				if n, connections := invoke(); n != warmTransactions || connections != 0 {
					t.Errorf("a warm tick makes %d transactions and %d new connections", n, connections)
				}
			}
			for deadline := time.Now().Add(patience); strings.Count(tick.log.String(), `"msg":"state"`) != 4; <-time.After(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("not one record of the state for each invocation")
				}
			}
			conn, err := pgx.Connect(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())
			var id int64
			if err := conn.QueryRow(t.Context(), "SELECT belfry.submit('echo')").Scan(&id); err != nil {
				t.Fatal(err)
			}
			over := make(chan struct{})
			go func() { defer close(over); _, _ = tick.tryInvoke(t.Context(), event) }() // it goes on while a job is queued
			for deadline := time.Now().Add(patience); ; <-time.After(20 * time.Millisecond) {
				job, err := store.Get(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				if job.Status == core.Queued {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%+v", job)
				}
			}
			if _, err := store.Cancel(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			<-over
		})
	}
}
