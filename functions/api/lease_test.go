package api_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/webhook"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

func newLeases(t testing.TB) *webhook.LeaseTokens {
	leases, err := webhook.NewLeaseTokens([][]byte{bytes.Repeat([]byte("k"), 32)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return leases
}

// start submits a job and starts its attempt, as a worker does.
func (b *bench) start(body string) (core.Job, string) {
	b.t.Helper()
	b.submit(body)
	return b.take()
}

// take starts the attempt that is due.
func (b *bench) take() (core.Job, string) {
	b.t.Helper()
	res, err := b.store.ClaimDue(b.t.Context(), core.ClaimRequest{
		WorkerID: "w", ClaimID: time.Now().UnixNano(), Lease: time.Minute, Quotas: []core.Quota{{Priority: core.Default, Type: "hook", Limit: 1}},
	})
	if err != nil || len(res.Jobs) != 1 {
		b.t.Fatalf("%d jobs claimed, %v", len(res.Jobs), err)
	}
	job := res.Jobs[0]
	return job, b.leases.Mint(b.t.Context(), core.Ref{ID: job.ID, Token: job.LeaseToken})
}

// accept records that the attempt's target answered 202.
func (b *bench) accept(job core.Job) {
	b.t.Helper()
	ends := []core.End{{Ref: core.Ref{ID: job.ID, Token: job.LeaseToken}, Outcome: core.EndAccepted, Wait: time.Minute}}
	if answers, err := b.store.Finish(b.t.Context(), ends); err != nil || answers[0].Status != core.Running {
		b.t.Fatalf("%+v, %v", answers, err)
	}
}

// report makes one of the three calls.
func (b *bench) report(id int64, act, token, more string) Writer {
	b.t.Helper()
	return b.do("POST", "/v1/jobs/"+strconv.FormatInt(id, 10)+"/"+act, `{"lease_token":"`+token+`"`+more+`}`)
}

func (b *bench) read(id int64) core.Job {
	b.t.Helper()
	job, err := b.store.Get(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return job
}

// The lease token alone is the right, to an attempt in a worker's hands as well as to one that a target accepted.
func TestCompleteByLeaseToken(t *testing.T) {
	for name, accepted := range map[string]bool{"in a worker's hands": false, "accepted": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(o *api.Options) { o.Tokens = []string{"a-token-of-twenty-characters"} })
			if _, err := b.store.Submit(t.Context(), []core.NewJob{{Type: "hook", Priority: core.Default, MaxAttempts: 5}}); err != nil {
				t.Fatal(err)
			}
			job, token := b.take()
			if accepted {
				b.accept(job)
			}
			const result = `{ "n" : 1e5 }`
			for range 2 { // the second time its answer was lost
				got := b.report(job.ID, "complete", token, `,"result":`+result).want(t, http.StatusOK)
				if want := fmt.Sprintf(`{"id":"%d","status":"done"}`, job.ID); got.body != want {
					t.Errorf("answered %s, want %s", got.body, want)
				}
			}
			if j := b.read(job.ID); j.Status != core.Done || string(j.Result) != result || j.Attempts != 1 {
				t.Errorf("%s with %s", j.Status, j.Result)
			}
			b.report(job.ID, "heartbeat", token, "").want(t, http.StatusConflict)
			b.report(job.ID, "fail", token, `,"error":"x"`).want(t, http.StatusConflict)
			b.do("GET", "/v1/jobs/1", "").want(t, http.StatusUnauthorized)
		})
	}
}

func TestFailByLeaseTokenDecidesAsAWorkerDoes(t *testing.T) {
	b := newBench(t)
	for _, row := range []struct {
		name, job, more string
		status          string
		kind            string
		wait            time.Duration
	}{
		{"error", `"backoff":["10m"]`, `,"error":"no stock"`, "scheduled", "error", 10 * time.Minute},
		{"retry after", `"backoff":["10m"]`, `,"error":"no stock","retry_after":"90s","permanent":false`, "scheduled", "error", 90 * time.Second},
		{"permanent", `"backoff":["10m"]`, `,"error":"no stock","permanent":true`, "failed", "permanent", 0},
		{"last attempt", `"max_attempts":1`, `,"error":"no stock","retry_after":"1s"`, "failed", "error", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			b.t = t
			job, token := b.start(`{"type":"hook",` + row.job + `}`)
			b.accept(job)
			for range 2 {
				got := b.report(job.ID, "fail", token, row.more).want(t, http.StatusOK)
				if want := fmt.Sprintf(`{"id":"%d","status":%q}`, job.ID, row.status); got.body != want {
					t.Errorf("answered %s, want %s", got.body, want)
				}
			}
			j := b.read(job.ID)
			if len(j.Errors) != 1 || j.Errors[0].Error != "no stock" || j.Errors[0].Kind != row.kind || j.Errors[0].Attempt != 1 {
				t.Errorf("errors %+v", j.Errors)
			}
			if row.wait > 0 {
				now, err := b.store.Now(t.Context())
				if ahead := j.RunAt.Sub(now); err != nil || ahead < row.wait*8/10 || ahead > row.wait*12/10 {
					t.Errorf("tried again in %s, want about %s", ahead, row.wait)
				}
			}
			b.report(job.ID, "complete", token, "").want(t, http.StatusConflict)
		})
	}
}

// A heartbeat extends by the job's timeout and tells that cancel is wanted; what then fails is cancelled, and what is
// completed is done, because it did happen.
func TestHeartbeatByLeaseToken(t *testing.T) {
	b := newBench(t)
	job, token := b.start(`{"type":"hook","timeout":"2h"}`)
	b.accept(job)
	type extended struct {
		LeaseUntil   time.Time `json:"lease_until"`
		CancelWanted bool      `json:"cancel_wanted"`
	}
	got := decode[extended](t, b.report(job.ID, "heartbeat", token, "").want(t, http.StatusOK))
	until := b.read(job.ID).LeaseUntil
	if got.CancelWanted || got.LeaseUntil.After(until) || until.Sub(got.LeaseUntil) > time.Minute {
		t.Errorf("answered %+v, the lease lasts until %s", got, until)
	}
	if now, err := b.store.Now(t.Context()); err != nil || until.Sub(now) < time.Hour {
		t.Errorf("until %s, want two hours from %s", until, now)
	}
	b.do("POST", fmt.Sprintf("/v1/jobs/%d/cancel", job.ID), "").want(t, http.StatusAccepted)
	if got := decode[extended](t, b.report(job.ID, "heartbeat", token, "").want(t, http.StatusOK)); !got.CancelWanted {
		t.Error("not told that cancel is wanted")
	}
	if got := b.report(job.ID, "fail", token, `,"error":"stopped"`).want(t, http.StatusOK); !strings.Contains(got.body, `"cancelled"`) {
		t.Errorf("answered %s", got.body)
	}

	job, token = b.start(`{"type":"hook"}`)
	b.do("POST", fmt.Sprintf("/v1/jobs/%d/cancel", job.ID), "").want(t, http.StatusAccepted)
	if got := b.report(job.ID, "complete", token, "").want(t, http.StatusOK); !strings.Contains(got.body, `"done"`) {
		t.Errorf("answered %s", got.body)
	}
}

// A token of an earlier attempt changes nothing, nor does one of a job that is long gone.
func TestStaleLeaseTokens(t *testing.T) {
	b := newBench(t)
	job, old := b.start(`{"type":"hook","backoff":["0s"]}`)
	b.report(job.ID, "fail", old, `,"error":"x"`).want(t, http.StatusOK)
	second, current := b.take()
	if second.ID != job.ID || old == current {
		t.Fatalf("job %d again, under %s", second.ID, current)
	}
	before := b.read(job.ID)
	gone := b.leases.Mint(t.Context(), core.Ref{ID: 404, Token: 1})
	for act, more := range map[string]string{"heartbeat": "", "complete": `,"result":1`, "fail": `,"error":"y"`} {
		if act != "fail" {
			got := b.report(job.ID, act, old, more).want(t, http.StatusConflict)
			if !strings.Contains(got.body, `"reason":"the lease token is stale"`) {
				t.Errorf("%s: %s", act, got.body)
			}
		}
		b.report(404, act, gone, more).want(t, http.StatusConflict)
	}
	if got := b.report(job.ID, "fail", old, `,"error":"y"`).want(t, http.StatusOK); !strings.Contains(got.body, `"scheduled"`) {
		t.Errorf("a repeat of what ended the first attempt: %s", got.body)
	}
	if after := b.read(job.ID); after.LeaseToken != before.LeaseToken || !after.LeaseUntil.Equal(before.LeaseUntil) || len(after.Errors) != 1 {
		t.Errorf("changed: %+v", after)
	}
	b.report(job.ID, "complete", current, "").want(t, http.StatusOK)
}

func TestBadReports(t *testing.T) {
	b := newBench(t)
	job, token := b.start(`{"type":"hook"}`)
	other := b.submit(`{"type":"later","delay":"1h"}`)
	before := b.read(job.ID)
	otherID, err := strconv.ParseInt(other.ID, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	forged := token[:20] + strings.Map(func(r rune) rune { return map[bool]rune{true: 'B', false: 'A'}[r == 'A'] }, token[20:21]) + token[21:]
	for _, row := range []struct {
		name, act, body string
		id              int64
		status          int
		field           string
	}{
		{"no token", "complete", `{}`, job.ID, 422, "lease_token"},
		{"empty token", "complete", `{"lease_token":""}`, job.ID, 422, "lease_token"},
		{"a number", "heartbeat", `{"lease_token":7}`, job.ID, 422, "lease_token"},
		{"no lease token at all", "complete", `{"lease_token":"hello"}`, job.ID, 422, "lease_token"},
		{"forged", "complete", `{"lease_token":"` + forged + `"}`, job.ID, 422, "lease_token"},
		{"longer", "complete", `{"lease_token":"` + token + `A"}`, job.ID, 422, "lease_token"},
		{"of another server", "complete", `{"lease_token":"` + strangers(t).Mint(t.Context(), core.Ref{ID: job.ID, Token: job.LeaseToken}) + `"}`, job.ID, 422, "lease_token"},
		{"of another job", "complete", `{"lease_token":"` + token + `"}`, otherID, 404, "lease_token"},
		{"of another job that is none", "complete", `{"lease_token":"` + token + `"}`, 404, 404, "lease_token"},
		{"bearer in the body", "complete", `{"lease_token":"` + token + `","token":"x"}`, job.ID, 422, "token"},
		{"heartbeat with more", "heartbeat", `{"lease_token":"` + token + `","lease":"1h"}`, job.ID, 422, "lease"},
		{"result with NUL", "complete", `{"lease_token":"` + token + `","result":"\u0000"}`, job.ID, 422, "result"},
		{"result with half a character", "complete", `{"lease_token":"` + token + `","result":"\ud83d"}`, job.ID, 422, "result"},
		{"result too deep", "complete", `{"lease_token":"` + token + `","result":` + deep(101) + `}`, job.ID, 422, "result"},
		{"result too large", "complete", `{"lease_token":"` + token + `","result":"` + strings.Repeat("x", core.MaxResultBytes) + `"}`, job.ID, 413, "result"},
		{"body too large", "complete", `{"lease_token":"` + token + `","result":"` + strings.Repeat("x", 3*core.MaxResultBytes) + `"}`, job.ID, 413, "body"},
		{"fail without error", "fail", `{"lease_token":"` + token + `"}`, job.ID, 422, "error"},
		{"empty error", "fail", `{"lease_token":"` + token + `","error":""}`, job.ID, 422, "error"},
		{"error an object", "fail", `{"lease_token":"` + token + `","error":{}}`, job.ID, 422, "error"},
		{"permanent a word", "fail", `{"lease_token":"` + token + `","error":"x","permanent":"yes"}`, job.ID, 422, "permanent"},
		{"retry_after a number", "fail", `{"lease_token":"` + token + `","error":"x","retry_after":5}`, job.ID, 422, "retry_after"},
		{"retry_after negative", "fail", `{"lease_token":"` + token + `","error":"x","retry_after":"-5s"}`, job.ID, 422, "retry_after"},
		{"retry_after absurd", "fail", `{"lease_token":"` + token + `","error":"x","retry_after":"721h"}`, job.ID, 422, "retry_after"},
		{"permanent and retry_after", "fail", `{"lease_token":"` + token + `","error":"x","retry_after":"5s","permanent":true}`, job.ID, 422, "retry_after"},
		{"not an object", "fail", `[]`, job.ID, 422, "body"},
		{"not JSON", "fail", `{`, job.ID, 400, "body"},
		{"nothing", "heartbeat", ``, job.ID, 415, "Content-Type"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b.t = t
			got := b.do("POST", fmt.Sprintf("/v1/jobs/%d/%s", row.id, row.act), row.body).want(t, row.status)
			p := decode[problem.Problem](t, got)
			if len(p.Errors) == 0 || p.Errors[0].Field != row.field {
				t.Errorf("problem %s, want the field %s", got.body, row.field)
			}
			if strings.Contains(got.body, token) {
				t.Error("the problem repeats the token")
			}
		})
	}
	b.t = t
	b.do("POST", fmt.Sprintf("/v1/jobs/%d/complete?x=1", job.ID), `{"lease_token":"`+token+`"}`).want(t, 422)
	if after := b.read(job.ID); after.LeaseToken != before.LeaseToken || after.Status != core.Running || !after.LeaseUntil.Equal(before.LeaseUntil) {
		t.Errorf("changed: %+v", after)
	}
}

func strangers(t *testing.T) *webhook.LeaseTokens {
	leases, err := webhook.NewLeaseTokens([][]byte{bytes.Repeat([]byte("x"), 32)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return leases
}

// A report ends requests that wait for the job, and counts go where a worker's go.
func TestReportsWakeAndCount(t *testing.T) {
	b := newBench(t)
	job, token := b.start(`{"type":"hook"}`)
	ended := make(chan Writer)
	go func() { ended <- get(b, fmt.Sprintf("/v1/jobs/%d?wait=30s", job.ID)) }()
	b.report(job.ID, "complete", token, "").want(t, http.StatusOK)
	if got := <-ended; !strings.Contains(got.body, `"status":"done"`) {
		t.Errorf("waited for %s", got.body)
	}
	failed, token := b.start(`{"type":"hook"}`)
	b.report(failed.ID, "fail", token, `,"error":"x","permanent":true`).want(t, http.StatusOK)
	b.reporter.Close(context.Background())
	stats, err := b.store.Stats(t.Context(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var sum core.Rollup
	for i := range stats.Totals {
		sum.Add(&stats.Totals[i])
	}
	if sum.Done != 1 || sum.Failed != 1 {
		t.Errorf("counted %+v", sum)
	}
}
