package postgres_test

import (
	"testing"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// TestGroupOfAnything: no value that the column takes keeps a job from being buried. The rows are inserted as someone
// might by hand.
func TestGroupOfAnything(t *testing.T) {
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, address)
	none := core.ErrorGroup("a", nil)
	for errs, want := range map[string]string{
		`null`: none, `5`: none, `"x"`: none, `{}`: none, `{"error": "x"}`: none, `[]`: none, `[null]`: none, `[5]`: none, `["x"]`: none, `[[1]]`: none, `[{}]`: none,
		`[{"error": null, "kind": null}]`: none, `[{"error": "\u0000", "kind": "error"}]`: none, `[{"error": "\ud800"}]`: none, `[{"kind": "\u0000", "error": "x"}]`: none,
		`[{"error": {"a": 1}, "kind": 5}]`:               "",
		`[{"error": "x", "error": "y", "kind": "lost"}]`: core.ErrorGroup("a", []core.AttemptError{{Error: "y", Kind: "lost"}}),
		`[5, {"error": "no 7", "kind": "error"}]`:        core.ErrorGroup("a", []core.AttemptError{{Error: "no 8", Kind: "error"}}),
	} {
		var got string
		err := conn.QueryRow(t.Context(), `INSERT INTO belfry.dead_letters (id, run_at, created_at, finished_at, lease_token, ended_token, claim_id, dispatch_fence, attempts,
			max_attempts, snoozes, dispatches, status, priority, type, tenant, payload, errors)
			SELECT nextval('belfry.job_ids'), now(), now(), now(), 1, 1, 1, 1, 1, 5, 0, 0, 5, 2, 'a', '', '{}', $1::text::json RETURNING error_group`, errs).Scan(&got)
		if err != nil || len(got) != 16 || want != "" && got != want {
			t.Errorf("%s: the group is %q, want %q, %v", errs, got, want, err)
		}
	}
}
