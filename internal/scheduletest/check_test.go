package scheduletest

import (
	"slices"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
)

// counts is what a check looked at.
type counts struct{ schedules, instants, rows, jobs int }

// check holds every ledger of a store against the enumeration of its rule, and the jobs against the ledger and the
// policies. The archive has the jobs that the store has dropped.
func check(t *testing.T, where string, now time.Time, kept *archive, how string, began time.Time) {
	t.Helper()
	store, err := openClocked(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.set(t.Context(), now.UnixMicro()); err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, store: store, offset: store.offset}
	kept.gather(t, store)
	jobs := kept.bySchedule(t)
	list, err := store.ListSchedules(t.Context(), core.ScheduleQuery{Limit: 1000})
	w.must(err)
	sum := counts{schedules: len(list)}
	kinds := map[string]int64{}
	for i := range list {
		s := &list[i]
		rows := w.ledger(s.Name)
		sum.instants += w.expanded(s, rows, now)
		sum.rows, sum.jobs = sum.rows+len(rows), sum.jobs+len(jobs[s.Name])
		for _, row := range rows {
			kinds[row.Outcome+row.Reason] += row.Count
		}
		w.rowsHaveJobs(s, rows, jobs[s.Name])
		w.policies(s, rows)
		w.apart(s, jobs[s.Name])
	}
	t.Logf("%d schedules, %d instants in %d ledger rows %v, %d jobs; %s; %s", sum.schedules, sum.instants, sum.rows, kinds, sum.jobs, how, time.Since(began).Round(time.Second))
}

// expanded holds a ledger against the enumeration up to what is accounted for; each instant once, with the right reason.
// Now is when the last pass was made.
func (w *world) expanded(s *core.Schedule, rows []core.Occurrence, now time.Time) int {
	w.Helper()
	rule, err := schedule.ParseRule(&s.Rule, s.State.Anchor)
	w.must(err)
	want, _ := rule.Enumerate(s.CreatedAt, s.State.Accounted, 10_000_000)
	at := 0
	for _, row := range rows {
		for n := range row.Count {
			if at == len(want) || want[at].At.Before(row.From) || want[at].At.After(row.To) || n == 0 && !want[at].At.Equal(row.From) || n == row.Count-1 && !want[at].At.Equal(row.To) {
				w.Fatalf("%s (%+v): the row %s to %s (%d, %s %s) does not follow at instant %d of %d", s.Name, s.Rule, row.From, row.To, row.Count, row.Outcome, row.Reason, at, len(want))
			}
			if dropped := string(want[at].Dropped); dropped != "" && row.Reason != dropped || dropped == "" && (row.Reason == core.SkippedDSTGap || row.Reason == core.SkippedDSTOverlap) {
				w.Errorf("%s: instant %s is %s %s, dropped for %q", s.Name, want[at].At, row.Outcome, row.Reason, dropped)
			}
			at++
		}
	}
	if next := rule.NextToAccount(s.State.Accounted); at != len(want) || !next.IsZero() && !next.Equal(s.State.NextDue) {
		w.Fatalf("%s (%+v): the ledger ends at instant %d of %d, next due %s", s.Name, s.Rule, at, len(want), s.State.NextDue)
	}
	if !s.State.NextDue.IsZero() && s.State.NextDue.Before(now.Add(-time.Minute)) {
		w.Errorf("%s was left behind: due %s, now %s", s.Name, s.State.NextDue, now)
	}
	return at
}

// rowsHaveJobs: each run's row has exactly one job and each job exactly one such row; a covered row has the job of the run
// that covers it; a skipped one has none.
func (w *world) rowsHaveJobs(s *core.Schedule, rows []core.Occurrence, jobs []core.Job) {
	w.Helper()
	byID := map[int64]*core.Job{}
	for i := range jobs {
		byID[jobs[i].ID] = &jobs[i]
	}
	covered, ran := map[int64]int64{}, map[int64]bool{}
	for _, row := range rows {
		job := byID[row.JobID]
		waits := s.State.Waiting
		switch {
		case row.Outcome == core.OccurrenceSkipped:
			if row.JobID != 0 {
				w.Errorf("%s: a skipped row %s has job %d", s.Name, row.From, row.JobID)
			}
		case row.JobID == 0 && waits != nil && !row.From.Before(waits.First()) && !row.To.After(waits.ScheduledFor):
		case job == nil:
			w.Errorf("%s (%+v): the %s row %s has job %d, which is not there", s.Name, s.Rule, row.Outcome, row.From, row.JobID)
		case row.Outcome == core.OccurrenceCovered:
			covered[job.ID] += row.Count
			if row.From.Before(job.Run.First()) || !row.To.Before(job.Run.ScheduledFor) {
				w.Errorf("%s: job %d of %s does not cover %s", s.Name, job.ID, job.Run.ScheduledFor, row.From)
			}
		case row.Count != 1 || ran[job.ID] || !job.Run.ScheduledFor.Equal(row.From) || job.Run.CatchUp != (row.Outcome == core.OccurrenceCaughtUp):
			w.Errorf("%s: the %s row %s (%d) and job %d %+v", s.Name, row.Outcome, row.From, row.Count, job.ID, job.Run)
		default:
			ran[job.ID] = true
		}
	}
	for id, job := range byID {
		if !ran[id] || max(job.Run.Covers, 1) != covered[id]+1 {
			w.Errorf("%s: job %d %+v has a row: %v, covers %d", s.Name, id, job.Run, ran[id], covered[id])
		}
	}
}

// policies: what is fired was punctual, what fared as missed was not, and no outcome is one that the policy excludes.
func (w *world) policies(s *core.Schedule, rows []core.Occurrence) {
	w.Helper()
	const grace, slack = 30 * time.Second, 5 * time.Second
	r := &s.Rule
	limits := map[time.Time]int64{}
	for _, row := range rows {
		late, kind := row.At.Sub(row.To), row.Outcome+row.Reason
		bad := false
		switch row.Outcome + row.Reason {
		case core.OccurrenceFired:
			bad = row.At.Sub(row.From) > grace+slack
		case core.OccurrenceCaughtUp:
			bad = late <= grace || r.Missed == "skip" || r.MissedWindow > 0 && row.At.Sub(row.From) > time.Duration(r.MissedWindow)+slack
			if r.Missed == "all" {
				limits[row.At]++
			}
		case core.OccurrenceCovered:
			bad = late <= grace || r.Missed != "once"
		case "skipped" + core.SkippedMissed:
			bad = late <= grace || r.Missed != "skip"
		case "skipped" + core.SkippedOverlap:
			bad = r.Overlap == core.OverlapAllow
		case "skipped" + core.SkippedWindow:
			bad = r.MissedWindow == 0 || late <= time.Duration(r.MissedWindow)
		case "skipped" + core.SkippedLimit:
			bad = r.Missed != "all"
		case "skipped" + core.SkippedDSTGap:
			bad = r.DSTGap != "skip"
		case "skipped" + core.SkippedDSTOverlap:
			bad = r.DSTOverlap == "both"
		default:
			bad = true
		}
		if bad {
			w.Errorf("%s (%+v): %s at %s, accounted for at %s", s.Name, s.Rule, kind, row.From, row.At)
		}
	}
	for at, n := range limits {
		if limit := int64(r.MissedLimit); limit > 0 && n > limit {
			w.Errorf("%s: %d made up at %s, the limit is %d", s.Name, n, at, limit)
		}
	}
}

// apart: runs of a schedule that must not overlap were made only after the one before them had ended.
func (w *world) apart(s *core.Schedule, jobs []core.Job) {
	w.Helper()
	if s.Rule.Overlap != core.OverlapSkip && s.Rule.Overlap != core.OverlapQueueOne {
		return
	}
	slices.SortFunc(jobs, func(a, b core.Job) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for i := 1; i < len(jobs); i++ {
		if before := jobs[i-1]; before.FinishedAt.IsZero() || before.FinishedAt.After(jobs[i].CreatedAt.Add(time.Second)) {
			w.Errorf("%s: job %d was made at %s, job %d ended at %s", s.Name, jobs[i].ID, jobs[i].CreatedAt, before.ID, before.FinishedAt)
		}
	}
}
