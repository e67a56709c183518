package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/internal/rulestest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// anywhere is a guard that lets every target pass: the rules of a job's form are what is tested here.
type anywhere struct{}

func (anywhere) CheckTargets(_ context.Context, targets []json.RawMessage) []error {
	return make([]error, len(targets))
}

// The table that Go and SQL are held against too, over HTTP.
func TestRules(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkRules(t, store)
	})
	t.Run("postgres", func(t *testing.T) {
		address := testenv.Postgres(t)
		if err := postgres.Migrate(t.Context(), address); err != nil {
			t.Fatal(err)
		}
		store, err := postgres.Open(t.Context(), address, postgres.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkRules(t, store)
	})
}

// checkRules runs the table on a store, which it closes.
func checkRules(t *testing.T, store core.Store) {
	submitter := submit.New(store, submit.Options{})
	defer func() {
		if err := submitter.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	a, err := api.New(api.Options{Submitter: submitter, Jobs: store, Stats: store, Targets: anywhere{}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b := &bench{t: t, api: a}
	rows, accepted, now := 0, 0, time.Now()
	for _, c := range rulestest.Cases(now) {
		if c.Document == "" {
			continue
		}
		rows++
		got := b.do("POST", "/v1/jobs", c.Document)
		if c.Field != "" {
			checkRefusal(t, c, got)
			continue
		}
		if got.status != http.StatusCreated {
			t.Errorf("%s: status %d: %.300s", c.Name, got.status, got.body)
			continue
		}
		accepted++
		checkRow(t, store, c, now, decode[job](t, got).ID)
	}
	stats, err := store.Stats(t.Context(), time.Hour)
	kept := 0
	for _, q := range stats.Queues {
		kept += q.Scheduled
	}
	if err != nil || kept != accepted {
		t.Errorf("%d jobs after %d were accepted, %v", kept, accepted, err)
	}
	if rows < 120 {
		t.Errorf("%d rows", rows)
	}
}

// checkRow holds what was kept against what was submitted.
func checkRow(t *testing.T, store core.Store, c rulestest.Case, now time.Time, id string) {
	t.Helper()
	if c.Job == nil {
		return
	}
	want, err := core.CheckNewJob(*c.Job, core.JobType{}, now)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		t.Errorf("%s: id %q", c.Name, id)
		return
	}
	got, err := store.Get(t.Context(), n)
	if err != nil {
		t.Errorf("%s: %v", c.Name, err)
		return
	}
	if fields := rulestest.Differences(want.NewJob(), got); fields != nil {
		t.Errorf("%s: not kept as it came: %v", c.Name, fields)
	}
}

func checkRefusal(t *testing.T, c rulestest.Case, got Writer) {
	t.Helper()
	field, statuses := c.Field, []int{http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge}
	if c.BadBody {
		field, statuses = "body", []int{http.StatusBadRequest}
	}
	if !slices.Contains(statuses, got.status) {
		t.Errorf("%s: status %d, want %v: %.300s", c.Name, got.status, statuses, got.body)
		return
	}
	refused := decode[problem.Problem](t, got)
	if !slices.ContainsFunc(refused.Errors, func(f problem.FieldProblem) bool { return f.Field == field && f.Rule != "" }) {
		t.Errorf("%s: the problem does not name %s: %.300s", c.Name, field, got.body)
	}
}
