package sqlite

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// plans says of each statement that reads jobs on the way of every job what its plan has to contain. By their
// id rows are found without a word here: no statement may scan jobs.
var plans = map[string][]string{
	"take_lane": {
		"SEARCH jobs USING INDEX jobs_due (priority=? AND type=? AND tenant=? AND run_at",
		"SEARCH jobs USING INDEX jobs_due_tenants (priority=? AND type=? AND run_at",
	},
	"take_tenant":     {"SEARCH jobs USING INDEX jobs_due (priority=? AND type=? AND tenant=? AND run_at<?)"},
	"next_tenants":    {"SEARCH j USING COVERING INDEX jobs_due (priority=? AND type=? AND tenant>?)", "SEARCH j USING COVERING INDEX jobs_due (priority=? AND type=? AND tenant=?)"},
	"due_at":          {"USING COVERING INDEX jobs_due (priority=? AND type=? AND tenant=?)", "USING INDEX jobs_due_tenants (priority=? AND type=?)"},
	"lanes":           {"USING COVERING INDEX jobs_due", "SEARCH n USING COVERING INDEX jobs_due (priority=? AND type>?)", "SEARCH n USING COVERING INDEX jobs_due (priority>?)", "SEARCH d USING COVERING INDEX jobs_due (priority=? AND type=? AND tenant=?)", "SEARCH d USING INDEX jobs_due_tenants (priority=? AND type=?)"},
	"claim_due":       {"SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)"},
	"dispatch":        {"SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)"},
	"heartbeat":       {"SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)"},
	"get_many":        {"SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)"},
	"get_attempts":    {"SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)"},
	"finish_done":     {"SEARCH j USING INTEGER PRIMARY KEY (rowid=?)"},
	"delete_jobs":     {"SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)"},
	"get":             {"SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH job_history USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH dead_letters USING INTEGER PRIMARY KEY (rowid=?)"},
	"ended":           {"SEARCH job_history USING INTEGER PRIMARY KEY (rowid=?)", "SEARCH dead_letters USING INTEGER PRIMARY KEY (rowid=?)"},
	"dedupe":          {"SEARCH jobs USING INDEX jobs_dedupe (tenant=? AND dedupe_key=?)"},
	"lost":            {"SEARCH jobs USING INDEX jobs_in_flight (reap_at<?)"},
	"defer_reap":      {"SEARCH jobs USING INDEX jobs_in_flight (reap_at<?)"},
	"adopt":           {"SEARCH jobs USING COVERING INDEX jobs_in_flight (reap_at=? AND status=?)"},
	"adopt_far":       {"SEARCH jobs USING COVERING INDEX jobs_in_flight (reap_at>?)"},
	"orphan":          {"SEARCH jobs USING INDEX jobs_in_flight (reap_at>?)"},
	"republish":       {"SEARCH jobs USING INDEX jobs_in_flight (reap_at<?)"},
	"expire":          {"SEARCH jobs USING INDEX jobs_expiring (expires_at>? AND expires_at<?)"},
	"count_due":       {"USING COVERING INDEX jobs_due (priority=? AND type=? AND tenant=? AND run_at<?)", "USING INDEX jobs_due_tenants (priority=? AND type=? AND run_at<?)"},
	"count_stuck":     {"SEARCH jobs USING INDEX jobs_in_flight (reap_at<?)", "SEARCH jobs USING INDEX jobs_in_flight (reap_at>?)"},
	"drop_history":    {"SEARCH job_history USING COVERING INDEX job_history_finished (finished_at<?)"},
	"drop_dead":       {"SEARCH dead_letters USING COVERING INDEX dead_letters_finished (finished_at<?)"},
	"count_scheduled": {"SEARCH jobs USING COVERING INDEX jobs_due"},

	"due_schedules":   {"SEARCH schedules USING COVERING INDEX schedules_due (next_due>? AND next_due<?)", "SEARCH s USING INDEX schedules_waiting (id>?)", "SEARCH schedules USING COVERING INDEX schedules_expecting (expect_by>? AND expect_by<?)", "SEARCH j USING COVERING INDEX jobs_of_schedules (tenant=? AND schedule=?)"},
	"expecting_types": {"SCAN t USING INDEX job_types_expecting", "SEARCH r USING INDEX rollups_of_types (type=? AND minute>?)", "SEARCH a USING INDEX alerts_open (kind=? AND tenant=? AND subject=?)"},
	"next_schedule":   {"SEARCH schedules USING COVERING INDEX schedules_due (next_due>?)", "SEARCH schedules USING COVERING INDEX schedules_expecting (expect_by>?)"},
	"due_in":          {"SEARCH jobs USING COVERING INDEX jobs_expiring (expires_at>?)", "SEARCH schedules USING COVERING INDEX schedules_due (next_due>?)", "SEARCH schedules USING COVERING INDEX schedules_expecting (expect_by>?)", "SEARCH rollups USING COVERING INDEX rollups_open (minute>?)", "SEARCH job_types USING INDEX job_types_expecting"},
	"succeeded":       {"SEARCH job_history USING INDEX job_history_of_schedules (tenant=? AND schedule=? AND scheduled_for>?)"},
	"active_runs":     {"SEARCH jobs USING COVERING INDEX jobs_of_schedules (tenant=? AND schedule=?)"},
	"occurrences":     {"SEARCH occurrences USING INDEX occurrences_of_schedule (schedule_id=? AND from_at<?)"},

	"list_id":            {"SEARCH jobs USING INTEGER PRIMARY KEY (rowid<?)", "SEARCH job_history USING INTEGER PRIMARY KEY (rowid<?)", "SEARCH dead_letters USING INTEGER PRIMARY KEY (rowid<?)", "MERGE (UNION ALL)"},
	"list_tenant":        {"SEARCH jobs USING INDEX jobs_tenant (tenant=? AND rowid<?)", "SEARCH job_history USING INDEX job_history_tenant (tenant=? AND rowid<?)", "SEARCH dead_letters USING INDEX dead_letters_tenant (tenant=? AND rowid<?)", "MERGE (UNION ALL)"},
	"list_type":          {"SEARCH dead_letters USING INDEX dead_letters_type (type=? AND rowid<?)"},
	"list_group":         {"SEARCH g USING COVERING INDEX dead_letter_groups_group (error_group=? AND rowid<?)", "SEARCH d USING INTEGER PRIMARY KEY (rowid=?)"},
	"list_last_id":       {"SEARCH jobs USING INTEGER PRIMARY KEY (rowid<?)", "MERGE (UNION ALL)"},
	"list_last_tenant":   {"SEARCH jobs USING COVERING INDEX jobs_tenant (tenant=? AND rowid<?)", "MERGE (UNION ALL)"},
	"list_last_type":     {"SEARCH dead_letters USING COVERING INDEX dead_letters_type (type=? AND rowid<?)"},
	"list_last_group":    {"SEARCH g USING COVERING INDEX dead_letter_groups_group (error_group=? AND rowid<?)"},
	"list_in_flight":     {"SCAN jobs USING INDEX jobs_in_flight"},
	"list_dead_id":       {"SEARCH d USING INTEGER PRIMARY KEY (rowid>?)"},
	"list_dead_ids":      {"SEARCH d USING INTEGER PRIMARY KEY (rowid=?)"},
	"list_dead_tenant":   {"SEARCH d USING INDEX dead_letters_tenant (tenant=? AND rowid>?)"},
	"list_dead_type":     {"SEARCH d USING INDEX dead_letters_type (type=? AND rowid>?)"},
	"list_dead_group":    {"SEARCH g USING COVERING INDEX dead_letter_groups_group (error_group=? AND rowid>?)"},
	"dead_groups_id":     {"SEARCH d USING INTEGER PRIMARY KEY (rowid>?)"},
	"dead_groups_tenant": {"SEARCH d USING INDEX dead_letters_tenant (tenant=? AND rowid>?)"},
	"count_dead_of":      {"SEARCH dead_letters USING COVERING INDEX dead_letters_tenant (tenant=?)"},
	"count_waiting_of":   {"SEARCH jobs USING COVERING INDEX jobs_due (priority=? AND type=? AND tenant=?)"},
	"dead_without_group": {"SEARCH g USING INTEGER PRIMARY KEY (rowid=?)"},
}

// sorted are the statements that may sort what they found: a handful of rows, a page's worth, or what they may look at.
var sorted = []string{"lost", "lost_ids", "list_apart", "read_claim", "count_in_flight", "list_in_flight", "list_rollups", "count_in_flight_of", "count_queued_types", "count_queued_lanes",
	"dead_groups_id", "dead_groups_ids", "dead_groups_tenant", "dead_groups_type", "dead_groups_group"}

var (
	parameter = regexp.MustCompile(`\?(\d+)`)
	scansJobs = regexp.MustCompile(`SCAN (jobs|n|d|g|job_history)\b`)
)

// TestPlans holds the plans of all statements against the indexes, in a fresh file and under statistics of a
// file full of waiting rows of one lane and nothing in flight, as someone's ANALYZE leaves them.
func TestPlans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	store := openHere(t, path, Options{})
	t.Run("fresh", func(t *testing.T) { checkPlans(t, path) })
	jobs := make([]core.NewJob, 5000)
	for i := range jobs {
		jobs[i] = core.NewJob{Type: "a"}
	}
	if _, err := store.Submit(t.Context(), jobs); err != nil {
		t.Fatal(err)
	}
	alter(t, path, "ANALYZE")
	t.Run("skewed", func(t *testing.T) { checkPlans(t, path) })
}

func checkPlans(t *testing.T, path string) {
	c, err := connect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	}()
	for name, text := range statements {
		plan := planOf(t, c, text)
		for _, want := range plans[name] {
			if !strings.Contains(plan, want) {
				t.Errorf("%s: want %q in the plan:\n%s", name, want, plan)
			}
		}
		for line := range strings.Lines(plan) {
			if scansJobs.MatchString(line) && !partial(line) && name != "next_id" {
				t.Errorf("%s scans: %s", name, line)
			}
			if strings.Contains(line, "TEMP B-TREE") && !slices.Contains(sorted, name) {
				t.Errorf("%s sorts: %s", name, line)
			}
		}
	}
	for name := range plans {
		if statements[name] == "" {
			t.Errorf("there is no statement %s", name)
		}
	}
}

// partial reports whether a scan is one of the few rows in flight, or of damaged ones, or ends after one step down the index.
func partial(line string) bool {
	return strings.Contains(line, "jobs_in_flight") || strings.Contains(line, "jobs_damaged") || strings.Contains(line, "USING COVERING INDEX jobs_due")
}

func planOf(t *testing.T, c *conn, text string) string {
	t.Helper()
	count := 0
	for _, match := range parameter.FindAllStringSubmatch(text, -1) {
		n := 0
		if _, err := fmt.Sscan(match[1], &n); err != nil {
			t.Fatal(err)
		}
		count = max(count, n)
	}
	var plan strings.Builder
	err := c.query(t.Context(), "EXPLAIN QUERY PLAN "+text, func(r row) error {
		plan.WriteString(r.text(3) + "\n")
		return nil
	}, make([]any, count)...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return plan.String()
}
