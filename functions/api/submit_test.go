package api_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/functions/api"
)

// checking counts the checks of jobs.
type checking struct {
	*submit.Submitter
	checks int
}

func (c *checking) Check(ctx context.Context, job core.NewJob, now time.Time) (core.CheckedJob, error) {
	c.checks++
	return c.Submitter.Check(ctx, job, now)
}

// Every way to submit checks each job once, and the answer shows the job as its type completed it.
func TestJobsAreCheckedOnce(t *testing.T) {
	var counted *checking
	b := newBench(t, func(o *api.Options) {
		counted = &checking{Submitter: o.Submitter.(*submit.Submitter)}
		o.Submitter = counted
	})
	b.do("PUT", "/v1/types/echo", `{"max_attempts":7}`).want(t, http.StatusCreated)
	one := `{"type":"echo","payload":{"a":[1]},"backoff":["1s"]}`
	for name, way := range map[string]struct {
		path, body string
		headers    []string
		jobs       int
	}{
		"one":                             {"/v1/jobs", one, nil, 1},
		"one under a key":                 {"/v1/jobs", one, []string{key, "one"}, 1},
		"one under a key, with a dedupe":  {"/v1/jobs", `{"type":"echo","dedupe_key":"d"}`, []string{key, "dedupe"}, 1},
		"batch":                           {"/v1/jobs/batch", `{"jobs":[` + one + `,` + one + `,` + one + `]}`, nil, 3},
		"batch under a key":               {"/v1/jobs/batch", `{"jobs":[` + one + `,` + one + `]}`, []string{key, "batch"}, 2},
		"batch of which one is refused":   {"/v1/jobs/batch", `{"jobs":[` + one + `,{"type":"echo","delay":"-1s"}]}`, nil, 2},
		"refused, under a key not used":   {"/v1/jobs", `{"type":"echo","delay":"-1s"}`, []string{key, "refused"}, 1},
		"refused by its fields and rules": {"/v1/jobs", `{"type":1,"delay":"-1s"}`, nil, 1},
	} {
		counted.checks = 0
		a := b.do("POST", way.path, way.body, way.headers...)
		if counted.checks != way.jobs {
			t.Errorf("%s: %d checks of %d jobs", name, counted.checks, way.jobs)
		}
		for i, j := range jobsIn(t, a) {
			if j.MaxAttempts != 7 {
				t.Errorf("%s: job %d has %d attempts, want its type's", name, i, j.MaxAttempts)
			}
		}
	}
	of := reflect.TypeFor[core.CheckedJob]()
	for i := range of.NumField() {
		if of.Field(i).IsExported() {
			t.Errorf("CheckedJob.%s: whoever sets it passes the check by", of.Field(i).Name)
		}
	}
}

// jobsIn are the jobs of an answer to a submit, those that were refused left out.
func jobsIn(t *testing.T, a Writer) (jobs []job) {
	t.Helper()
	switch a.status {
	case http.StatusCreated:
		return []job{decode[job](t, a)}
	case http.StatusOK:
		for _, item := range decode[struct{ Items []job }](t, a).Items {
			if item.ID != "" {
				jobs = append(jobs, item)
			}
		}
	case http.StatusUnprocessableEntity:
	default:
		t.Error(fmt.Sprint("status ", a.status, ": ", a.body))
	}
	return jobs
}
