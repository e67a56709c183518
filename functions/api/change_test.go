package api_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// claim makes the due jobs of a type running.
func (b *bench) claim(typ string) []core.Job {
	b.t.Helper()
	res, err := b.store.ClaimDue(b.t.Context(), core.ClaimRequest{WorkerID: "w1", ClaimID: time.Now().UnixNano(), Lease: time.Minute,
		Quotas: []core.Quota{{Priority: core.Default, Type: typ, Limit: 100}}})
	if err != nil {
		b.t.Fatal(err)
	}
	return res.Jobs
}

// end ends the attempts of the due jobs of a type.
func (b *bench) end(typ string, outcome core.Outcome, result string) []core.Job {
	b.t.Helper()
	jobs := b.claim(typ)
	var ends []core.End
	for _, j := range jobs {
		end := core.End{Ref: core.Ref{ID: j.ID, Token: j.LeaseToken}, Outcome: outcome}
		if outcome == core.EndDone {
			end.Result = []byte(result)
		} else {
			end.Errors = []core.AttemptError{{Attempt: 1, At: j.StartedAt, Error: result, Kind: "error"}}
		}
		ends = append(ends, end)
	}
	answers, err := b.store.Finish(b.t.Context(), ends)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, a := range answers {
		if a.Stale || a.Busy {
			b.t.Fatalf("finish answered %+v", a)
		}
	}
	return jobs
}

func (b *bench) change(id, what, body string, status int) Writer {
	b.t.Helper()
	return b.do("POST", "/v1/jobs/"+id+"/"+what, body).want(b.t, status)
}

func TestCancel(t *testing.T) {
	b := newBench(t)
	waits := b.submit(`{"type":"echo","delay":"1h"}`)
	if j := decode[job](t, b.change(waits.ID, "cancel", "", http.StatusOK)); j.Status != "cancelled" || j.FinishedAt == "" {
		t.Errorf("%+v", j)
	}
	p := decode[problem.Problem](t, b.change(waits.ID, "cancel", "{}", http.StatusConflict))
	if p.Reason != "the job is cancelled" || p.JobID != "" {
		t.Errorf("%+v", p)
	}
	runs := b.submit(`{"type":"echo"}`)
	b.claim("echo")
	for range 2 {
		if j := decode[job](t, b.change(runs.ID, "cancel", "", http.StatusAccepted)); j.Status != "running" || !j.CancelWant {
			t.Errorf("%+v", j)
		}
	}
	fails := b.submit(`{"type":"fail"}`)
	b.end("fail", core.EndFail, "no")
	if p := decode[problem.Problem](t, b.change(fails.ID, "cancel", "", http.StatusConflict)); p.Reason != "the job is failed" {
		t.Errorf("%+v", p)
	}
}

func TestReschedule(t *testing.T) {
	b := newBench(t)
	j := b.submit(`{"type":"echo","delay":"1h"}`)
	got := decode[job](t, b.change(j.ID, "reschedule", `{"run_at":"2031-01-01T01:00:00.1234567+01:00"}`, http.StatusOK))
	if got.RunAt != "2031-01-01T00:00:00.123456Z" || got.Status != "scheduled" {
		t.Errorf("%+v", got)
	}
	b.change(j.ID, "reschedule", `{"delay":"0s"}`, http.StatusOK)
	if jobs := b.claim("echo"); len(jobs) != 1 || strconv.FormatInt(jobs[0].ID, 10) != j.ID {
		t.Fatalf("claimed %v", jobs)
	}
	if p := decode[problem.Problem](t, b.change(j.ID, "reschedule", `{"delay":"1s"}`, http.StatusConflict)); p.Reason != "the job is running" {
		t.Errorf("%+v", p)
	}
	if len(b.poked) != 3 {
		t.Errorf("poked %v", b.poked)
	}
}

func TestRetry(t *testing.T) {
	b := newBench(t)
	j := b.submit(`{"type":"fail","dedupe_key":"k"}`)
	if p := decode[problem.Problem](t, b.change(j.ID, "retry", "", http.StatusConflict)); p.Reason != "the job is scheduled" {
		t.Errorf("%+v", p)
	}
	b.end("fail", core.EndFail, "it broke")
	other := b.submit(`{"type":"echo","dedupe_key":"k"}`)
	p := decode[problem.Problem](t, b.change(j.ID, "retry", "", http.StatusConflict))
	if p.JobID != other.ID || p.Reason == "" {
		t.Errorf("%+v, want the id %s", p, other.ID)
	}
	b.change(other.ID, "cancel", "", http.StatusOK)
	got := b.change(j.ID, "retry", "", http.StatusOK)
	if g := decode[job](t, got); g.Status != "scheduled" || g.Attempts != 0 || !strings.Contains(got.body, "it broke") {
		t.Errorf("%s", got.body)
	}
	b.change(j.ID, "retry", "", http.StatusConflict)
}

func TestDeadLetters(t *testing.T) {
	b := newBench(t)
	var ids []string
	for _, body := range []string{`{"type":"a","tenant":"x"}`, `{"type":"a","dedupe_key":"k"}`, `{"type":"b"}`, `{"type":"b","tenant":"x"}`, `{"type":"c"}`} {
		ids = append(ids, b.submit(body).ID)
	}
	for _, typ := range []string{"a", "b", "c"} {
		b.end(typ, core.EndFail, "no")
	}
	holder := b.submit(`{"type":"d","dedupe_key":"k"}`)
	b.submit(`{"type":"e"}`)

	listed := func(query string) string {
		t.Helper()
		var got []string
		for _, j := range decode[items](t, b.do("GET", "/v1/dead-letters"+query, "").want(t, http.StatusOK)).Items {
			if j.Status != "failed" {
				t.Errorf("a dead letter that is %s", j.Status)
			}
			got = append(got, j.ID)
		}
		return strings.Join(got, " ")
	}
	if got, want := listed(""), ids[4]+" "+ids[3]+" "+ids[2]+" "+ids[1]+" "+ids[0]; got != want {
		t.Errorf("listed %s, want %s", got, want)
	}
	if got, want := listed("?type=b&tenant="), ids[2]; got != want {
		t.Errorf("listed %s, want %s", got, want)
	}
	redrive := b.do("POST", "/v1/dead-letters/redrive", `{"type":"a"}`).want(t, http.StatusOK)
	if want := `{"redriven":1,"conflicts":[{"id":"` + ids[1] + `","reason":"another live job holds the dedupe key","job_id":"` + holder.ID + `"}],"remaining":0,"capped":false,"after":"` + ids[1] + `"}`; redrive.body != want {
		t.Errorf("redrive answered %s, want %s", redrive.body, want)
	}
	for _, step := range []struct{ method, target, body, want, left string }{
		{"POST", "/v1/dead-letters/redrive", `{"tenant":"x","ids":["` + ids[3] + `","` + ids[2] + `"]}`, `{"redriven":1,"conflicts":[],"remaining":0,"capped":false,"after":"` + ids[3] + `"}`, ids[4] + " " + ids[2] + " " + ids[1]},
		{"DELETE", "/v1/dead-letters?type=b&failed_before=2020-01-01T00:00:00Z", "", `{"discarded":0,"left":[],"remaining":0,"capped":false}`, ids[4] + " " + ids[2] + " " + ids[1]},
		{"DELETE", "/v1/dead-letters?id=" + ids[4] + "&id=1", "", `{"discarded":1,"left":[],"remaining":0,"capped":false,"after":"` + ids[4] + `"}`, ids[2] + " " + ids[1]},
		{"POST", "/v1/dead-letters/redrive", `{"all":true,"limit":1}`, "", ids[2]},
		{"DELETE", "/v1/dead-letters?all=true", "", `{"discarded":1,"left":[],"remaining":0,"capped":false,"after":"` + ids[2] + `"}`, ""},
	} {
		if step.want == "" {
			b.change(holder.ID, "cancel", "", http.StatusOK)
			step.want = `{"redriven":1,"conflicts":[],"remaining":1,"capped":false,"after":"` + ids[1] + `"}`
		}
		if got := b.do(step.method, step.target, step.body).want(t, http.StatusOK).body; got != step.want {
			t.Errorf("%s %s %s answered %s, want %s", step.method, step.target, step.body, got, step.want)
		}
		if got := listed(""); got != step.left {
			t.Errorf("%s %s %s left %s, want %s", step.method, step.target, step.body, got, step.left)
		}
	}
}

// A reschedule says which of its two fields is missing or too many.
func TestRescheduleNamesWhatIsWrong(t *testing.T) {
	b := newBench(t)
	for body, says := range map[string]string{
		`{}`: "run_at: is required, or delay", "": "run_at: is required, or delay",
		`{"run_at":"2030-01-01T00:00:00Z","delay":"1s"}`: "run_at: set run_at or delay, not both",
	} {
		if got := b.do("POST", "/v1/jobs/1/reschedule", body).want(t, http.StatusUnprocessableEntity); !strings.Contains(got.body, says) || strings.Count(got.body, `"field":`) != 1 {
			t.Errorf("%q: %s", body, got.body)
		}
	}
}
