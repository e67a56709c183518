package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// item is one item of a batch's answer.
type item struct {
	job
	Error *problem.Problem `json:"error"`
}

type items struct {
	Items []item `json:"items"`
}

// One item per job, in order; those that are right are written whatever is wrong with others.
func TestBatchAnswersInOrder(t *testing.T) {
	b := newBench(t)
	first := b.submit(`{"type":"echo","dedupe_key":"taken","payload":[0]}`)
	a := b.do("POST", "/v1/jobs/batch", `{"jobs":[
		{"type":"echo","payload":1},
		{"type":"echo","payload":"\u0000"},
		{"type":"echo","dedupe_key":"taken","payload":2},
		7,
		{"type":"echo","dedupe_key":"new","payload":3},
		{"type":"echo","dedupe_key":"new","payload":4},
		{"type":"","run_at":"10000-01-01T00:00:00Z"},
		{"type":"echo","payload":`+deep(101)+`},
		{"type":"echo","payload":"`+strings.Repeat("x", core.MaxPayloadBytes)+`"},
		{"type":"echo","payload":5}
	]}`).want(t, http.StatusOK)
	got := decode[items](t, a).Items
	if len(got) != 10 {
		t.Fatalf("%d items", len(got))
	}
	for i, want := range map[int]string{0: "1", 4: "3", 9: "5"} {
		if string(got[i].Payload) != want || got[i].Duplicate || got[i].Error != nil {
			t.Errorf("item %d: %+v", i, got[i])
		}
	}
	if !got[2].Duplicate || got[2].ID != first.ID || string(got[2].Payload) != "[0]" {
		t.Errorf("item 2: %+v, want the job that holds the key", got[2])
	}
	if !got[5].Duplicate || got[5].ID != got[4].ID || string(got[5].Payload) != "3" {
		t.Errorf("item 5: %+v, want the job of item 4", got[5])
	}
	for i, want := range map[int]string{1: "422 jobs[1].payload", 3: "422 jobs[3]", 6: "422 jobs[6].run_at", 7: "422 jobs[7].payload", 8: "413 jobs[8].payload"} {
		if p := got[i].Error; p == nil || fmt.Sprint(p.Status, " ", p.Errors[0].Field) != want || got[i].ID != "" {
			t.Errorf("item %d: %+v, want a problem of %s", i, p, want)
		}
	}
	list := decode[items](t, b.do("GET", "/v1/jobs", "").want(t, http.StatusOK)).Items
	if len(list) != 4 {
		t.Errorf("%d jobs are kept, want 4", len(list))
	}
}

func TestBatchOfTenThousand(t *testing.T) {
	b := newBench(t)
	var body strings.Builder
	for i := range core.MaxBatch {
		fmt.Fprintf(&body, `,{"type":"echo","payload":%d}`, i)
	}
	a := b.do("POST", "/v1/jobs/batch", `{"jobs":[`+body.String()[1:]+`]}`).want(t, http.StatusOK)
	got := decode[items](t, a).Items
	if len(got) != core.MaxBatch || len(b.poked) != core.MaxBatch {
		t.Fatalf("%d items, %d poked", len(got), len(b.poked))
	}
	for i, it := range got {
		if it.Error != nil || string(it.Payload) != fmt.Sprint(i) {
			t.Fatalf("item %d: %+v", i, it)
		}
	}
}

func TestBatchOfFaultsOnly(t *testing.T) {
	b := newBench(t, func(o *api.Options) { o.Submitter = refusing{} })
	got := decode[items](t, b.do("POST", "/v1/jobs/batch", `{"jobs":[{},{"type":1}]}`).want(t, http.StatusOK)).Items
	if len(got) != 2 || got[0].Error == nil || got[1].Error == nil {
		t.Errorf("%+v", got)
	}
}

// When the one transaction fails, no item is answered as accepted.
func TestBatchFailsWhole(t *testing.T) {
	b := newBench(t, func(o *api.Options) { o.Submitter = refusing{err: core.ErrUnavailable} })
	b.do("POST", "/v1/jobs/batch", `{"jobs":[{"type":"echo"},{}]}`).want(t, http.StatusServiceUnavailable)
	if len(b.poked) != 0 {
		t.Errorf("poked %v", b.poked)
	}
}

// refusing is a submitter that must not be called, or fails with err.
type refusing struct {
	call.Submitter
	err error
}

func (r refusing) Check(_ context.Context, job core.NewJob, now time.Time) (core.CheckedJob, error) {
	return core.CheckNewJob(job, core.JobType{}, now)
}
func (r refusing) Write(context.Context, core.CheckedJob) (core.Submitted, error) {
	return core.Submitted{}, r.fail()
}
func (r refusing) WriteBatch(context.Context, []core.CheckedJob) ([]core.Submitted, error) {
	return nil, r.fail()
}
func (r refusing) fail() error {
	if r.err == nil {
		return errors.New("called with nothing to submit")
	}
	return r.err
}

// Only an explicit key makes two jobs one, and by the same rule in single and batch.
func TestDedupeByKeyOnly(t *testing.T) {
	b := newBench(t)
	seen := map[string]bool{}
	for _, body := range []string{
		`{"type":"echo","payload":[{"b":1,"a":{"d":2,"c":3}}]}`, `{"type":"echo","payload":[{"a":{"c":3,"d":2},"b":1}]}`,
		`{"type":"echo","payload":[{"b":1,"a":{"d":2,"c":3}}]}`, `{"type":"echo","payload":1}`, `{"type":"echo","payload":1.0}`,
		`{"type":"echo","dedupe_key":"é"}`, `{"type":"echo","dedupe_key":"e\u0301"}`, `{"type":"echo","dedupe_key":"é","tenant":"a"}`,
	} {
		if j := b.submit(body); seen[j.ID] || j.Duplicate {
			t.Errorf("%s is a duplicate", body)
		} else {
			seen[j.ID] = true
		}
	}
	single := decode[job](t, b.do("POST", "/v1/jobs", `{"type":"other","dedupe_key":"\u00e9","payload":2}`).want(t, http.StatusOK))
	batch := decode[items](t, b.do("POST", "/v1/jobs/batch", `{"jobs":[{"type":"other","dedupe_key":"é"}]}`).want(t, http.StatusOK)).Items[0]
	if !single.Duplicate || !batch.Duplicate || single.ID != batch.ID || single.Type != "echo" {
		t.Errorf("single %+v, batch %+v", single, batch.job)
	}
	if !json.Valid(single.Payload) {
		t.Error("no payload")
	}
}
