package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// List lists jobs.
func (s *Stage) List(q core.ListQuery) []core.Job {
	s.Helper()
	page, err := s.Store.List(s.Ctx, q)
	s.Must(err)
	return page.Jobs
}

// Stats reads the store's counts, and those of live rows by priority.
func (s *Stage) Stats() (core.Stats, map[core.Priority]core.QueueStats) {
	s.Helper()
	stats, err := s.Store.Stats(s.Ctx, time.Hour)
	s.Must(err)
	queues := map[core.Priority]core.QueueStats{}
	for _, q := range stats.Queues {
		queues[q.Priority] = q
	}
	if len(queues) != len(core.Priorities) || len(stats.Queues) != len(queues) {
		s.Fatalf("want each priority once, got %+v", stats.Queues)
	}
	return stats, queues
}

func (s *Stage) Groups(q core.DeadQuery, limit int) []core.DeadGroup {
	s.Helper()
	groups, err := s.Store.DeadGroups(s.Ctx, q, limit)
	s.Must(err)
	return groups
}

func (s *Stage) Alerts(q core.AlertQuery) []core.Alert {
	s.Helper()
	q.Limit = 100
	list, err := s.Store.Alerts(s.Ctx, q)
	s.Must(err)
	return list
}

// Existing submits a job whose dedupe key is taken, and returns the job that holds it.
func (s *Stage) Existing(job core.NewJob) *core.Job {
	s.Helper()
	out, err := s.Store.Submit(s.Ctx, []core.NewJob{job})
	s.Must(err)
	if out[0].Existing == nil {
		s.Fatalf("want the job that holds key %q, but job %d was written", job.DedupeKey, out[0].ID)
	}
	if out[0].ID != out[0].Existing.ID || out[0].Token != out[0].Existing.LeaseToken || out[0].Status != out[0].Existing.Status {
		s.Fatalf("the answer's fields are not the existing job's: %+v", out[0])
	}
	return out[0].Existing
}

// Waits reports whether a tick lists a type among the waiting lanes.
func (s *Stage) Waits(typ string) bool {
	s.Helper()
	return slices.ContainsFunc(s.Tick(TickRequest("holder-1")).Waiting, func(l core.Lane) bool { return l.Type == typ })
}

func SameErrors(s *Stage, where string, got, want []core.AttemptError) {
	s.Helper()
	same := slices.EqualFunc(got, want, func(a, b core.AttemptError) bool {
		return a.Attempt == b.Attempt && a.At.Equal(b.At) && a.Error == b.Error && a.Kind == b.Kind
	})
	if !same {
		s.Errorf("errors %s differ:\n got %s\nwant %s", where, fmt.Sprint(got), fmt.Sprint(want))
	}
}

// OddText holds names and texts that break some query, path or label.
var OddText = []string{
	`x'); DROP TABLE jobs;--`, `x"y`, `Foo`, `foo`, `foo/bar.baz`, `a+b`, `a b`, `100%`, `%`, `_`, `#x`, `a:b`, `..`, `naïve`, `nai` + "\u0308" + `ve`, `队列`, `😀`,
	`?x=1`, `trailing.`, `\`, `\'`, `$1`, `{a,b}`, `"{a,b}"`, `NULL`, `null`, `a,b`, ` `, "tab\there", "line\nbreak", `<img src=x onerror=alert(1)>`, "\u0001", "\u2028",
}
