package belfrytest

import (
	"context"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// Submitted returns the submitted jobs of a type that fulfil all matches, oldest first, regardless of who submitted them and
// of their state. The type "" means any.
func (e *Engine) Submitted(jobType string, match ...Match) []core.Job {
	e.t.Helper()
	return slices.DeleteFunc(e.list(core.ListQuery{Type: jobType}), func(job core.Job) bool { return len(unmet(job, match)) > 0 })
}

// RequireSubmitted fails the test unless a job of the type that fulfils all matches was submitted. It returns the first one.
func (e *Engine) RequireSubmitted(jobType string, match ...Match) core.Job {
	e.t.Helper()
	found := e.Submitted(jobType, match...)
	if len(found) == 0 {
		e.t.Fatalf("no job of type %q%s was submitted\n%s", jobType, texts(match), e.describeMisses(jobType, match))
	}
	return found[0]
}

// RequireNotSubmitted fails the test if a job of the type that fulfils all matches was submitted.
func (e *Engine) RequireNotSubmitted(jobType string, match ...Match) {
	e.t.Helper()
	if found := e.Submitted(jobType, match...); len(found) > 0 {
		e.t.Fatalf("%d of type %q%s were submitted\n%s", len(found), jobType, texts(match), e.describeAll(found))
	}
}

// list returns all jobs of a query, oldest first.
func (e *Engine) list(q core.ListQuery) []core.Job {
	e.t.Helper()
	var all []core.Job
	for q.Limit = 1000; ; {
		page, err := e.store.List(context.Background(), q)
		if err != nil {
			e.t.Fatalf("list jobs: %v", err)
		}
		if all = append(all, page.Jobs...); page.Next == 0 {
			slices.Reverse(all)
			return all
		}
		q.Before = page.Next
	}
}

// unmet returns the matches that the job does not fulfil.
func unmet(job core.Job, match []Match) (not []Match) {
	for _, m := range match {
		if !m.holds(job) {
			not = append(not, m)
		}
	}
	return not
}

// texts joins the texts of match into " with a, b".
func texts(match []Match) string {
	if len(match) == 0 {
		return ""
	}
	all := make([]string, len(match))
	for i, m := range match {
		all[i] = m.text
	}
	return " with " + strings.Join(all, ", ")
}
