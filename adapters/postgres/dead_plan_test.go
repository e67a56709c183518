package postgres

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// TestDeadPlans looks at what statements on many dead letters read: what they take, by the index their filter leads to.
func TestDeadPlans(t *testing.T) {
	address := testenv.Postgres(t)
	if err := Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	e := newExplainer(t, s, address)
	fillForLists(t, e.conn, listScale{rows: 200_000})
	group := core.ErrorGroup("type-1", []core.AttemptError{{Error: "no 1", Kind: "error"}})
	big, ctx := "big", t.Context()
	queries := []struct {
		index string
		q     core.DeadQuery
	}{
		{"dead_letters_pkey", core.DeadQuery{}},
		{"dead_letters_pkey", core.DeadQuery{IDs: []int64{100, 102, 104, 200, 7, 1 << 60}}},
		{"dead_letters_type", core.DeadQuery{Type: "type-1"}},
		{"dead_letters_tenant", core.DeadQuery{Tenant: &big, Type: "type-1", Before: time.Now().Add(time.Hour)}},
		{"dead_letters_group", core.DeadQuery{Group: group, Type: "type-1", After: 1000}},
	}
	const taken = 100
	acts := map[string]func(*Store, core.DeadQuery) error{
		"redrive": func(s *Store, q core.DeadQuery) error {
			_, err := s.Redrive(ctx, q, taken, core.Pace{Every: time.Second})
			return err
		},
		"discard": func(s *Store, q core.DeadQuery) error { _, err := s.Discard(ctx, q, taken); return err },
		"count":   func(s *Store, q core.DeadQuery) error { _, err := s.CountDead(ctx, q); return err },
		"groups":  func(s *Store, q core.DeadQuery) error { _, err := s.DeadGroups(ctx, q, taken); return err },
	}
	for _, statistics := range []struct{ name, sql string }{
		{"missing", "UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE oid = 'belfry.dead_letters'::regclass"},
		{"empty", "UPDATE pg_class SET reltuples = 0, relpages = 0 WHERE oid = 'belfry.dead_letters'::regclass"},
		{"fresh", "ANALYZE belfry.dead_letters"},
	} {
		exec(t, e.conn, statistics.sql)
		for name, act := range acts {
			for _, c := range queries {
				for _, generic := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/%s/%t", statistics.name, name, c.index, generic), func(t *testing.T) {
						e.t = t
						for _, x := range e.explain(generic, func(s *Store) error { return act(s, c.q) }) {
							checkDead(t, x, c.index, name, taken)
						}
					})
				}
			}
		}
	}
}

func checkDead(t *testing.T, x explained, index, act string, taken float64) {
	t.Helper()
	led := false
	x.plan.walk(func(p plan) {
		led = led || p.Index == index
		if p.Relation == "dead_letters" && (strings.Contains(p.Node, "Seq Scan") || strings.Contains(p.Node, "Bitmap")) {
			t.Errorf("%s of %s\n%s", p.Node, p.Relation, x.sql)
		}
		if p.Relation == "dead_letters" && p.Index != "dead_letters_pkey" && p.Index != index && p.Index != "" {
			t.Errorf("%s by %q, want %q\n%s", p.Node, p.Index, index, x.sql)
		}
		if p.Relation == "dead_letters" && (act == "redrive" || act == "discard") && (p.Rows+p.Removed)*p.Loops > 10*taken { // one of seven types, where another way was taken
			t.Errorf("%s by %q read %.0f rows and %.0f in vain\n%s", p.Node, p.Index, p.Rows*p.Loops, p.Removed*p.Loops, x.sql)
		}
	})
	if !led {
		t.Errorf("%q is not in the plan\n%s", index, x.sql)
	}
}

// TestListOfManyInFlight: where more jobs are in flight than a page looks at, they are listed like all others.
func TestListOfManyInFlight(t *testing.T) {
	address := testenv.Postgres(t)
	if err := Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Submit(t.Context(), make([]core.NewJob, 200)); err != nil {
		t.Fatal(err)
	}
	claim := core.ClaimRequest{WorkerID: "w", ClaimID: 7, Lease: time.Minute, Quotas: []core.Quota{{Priority: core.Default, Limit: 120}}}
	if _, err := s.ClaimDue(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	for _, window := range []int64{50, 119, 120, 121, 1000} {
		s.listWindow = window
		seen := 0
		for q := (core.ListQuery{Statuses: []core.Status{core.Running, core.Queued}, Limit: 30}); ; {
			page, err := s.List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Jobs) > 0 && q.Before != 0 && page.Jobs[0].ID >= q.Before || seen > 200 {
				t.Fatalf("a page below %d begins with %d", q.Before, page.Jobs[0].ID)
			}
			if seen += len(page.Jobs); page.Next == 0 {
				break
			}
			q.Before = page.Next
		}
		if seen != 120 {
			t.Errorf("a window of %d rows: %d of 120 running jobs were listed", window, seen)
		}
	}
}
