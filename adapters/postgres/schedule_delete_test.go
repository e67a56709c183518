package postgres_test

import (
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
)

// TestDeleteWaitsForAStep: ledger rows that a step writes while the deletion waits for it go too.
func TestDeleteWaitsForAStep(t *testing.T) {
	address := migrated(t)
	store, err := postgres.Open(t.Context(), address, postgres.Options{LockTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	rule := core.ScheduleRule{Every: core.ScheduleLength(time.Hour), Type: "work"}
	kept, err := store.CreateSchedule(t.Context(), core.Schedule{Name: "s", Rule: rule, State: core.ScheduleState{Anchor: time.Now(), Accounted: time.Now()}})
	if err != nil {
		t.Fatal(err)
	}
	step, look := connect(t, address), connect(t, address)
	tx, err := step.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "UPDATE belfry.schedules SET moves = moves + 1 WHERE id = $1", kept.ID); err != nil {
		t.Fatal(err)
	}
	deleted := make(chan error, 1)
	go func() { deleted <- store.DeleteSchedule(t.Context(), "", "s", 0) }()
	for waits := false; !waits; {
		if err := look.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'), pg_sleep(0.01)::text").Scan(&waits, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Exec(t.Context(), "INSERT INTO belfry.occurrences (schedule_id, from_at, to_at, count, outcome, at) VALUES ($1, now(), now(), 1, 'fired', now())", kept.ID); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	rows, err := store.Occurrences(t.Context(), core.OccurrenceQuery{ScheduleID: kept.ID, Limit: 10})
	if err != nil || len(rows) != 0 {
		t.Errorf("%d ledger rows of a schedule that is gone, %v", len(rows), err)
	}
}
