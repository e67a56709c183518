package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/webhook"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// delivering is an API whose deliveries may go to public addresses.
func delivering(o *api.Options) {
	guard, err := webhook.NewGuard(webhook.GuardOptions{Allow: []string{"*.example.com"}}) // not looked up
	if err != nil {
		panic(err)
	}
	o.Targets = guard
}

func TestTypes(t *testing.T) {
	b := newBench(t, delivering)
	const path = "/v1/types/invoice.send"
	b.do("GET", path, "").want(t, http.StatusNotFound)
	b.do("DELETE", path, "").want(t, http.StatusNotFound)

	made := b.do("PUT", path, `{"target":{"url":"https://hooks.example.com/in?t=1","headers":{"authorization":"Bearer canary","x-b":""}},"timeout":"90s","max_attempts":3,"backoff":["1s","1h"],"expires_after":"2h","expect_within":"25h"}`).want(t, http.StatusCreated)
	const want = `{"type":"invoice.send","target":{"url":"https://hooks.example.com/in?t=1","headers":{"authorization":"********","x-b":"********"}},` +
		`"timeout":"1m30s","max_attempts":3,"backoff":["1s","1h0m0s"],"expires_after":"2h0m0s","expect_within":"25h0m0s","created_at":`
	if !strings.HasPrefix(made.body, want) {
		t.Errorf("answered %s\nwant %s", made.body, want)
	}
	if got := b.do("GET", path, "").want(t, http.StatusOK); got.body != made.body {
		t.Errorf("GET answers %s\nPUT answered %s", got.body, made.body)
	}
	kept, err := b.store.GetType(t.Context(), "invoice.send")
	if err != nil || !strings.Contains(string(kept.Target), "Bearer canary") {
		t.Errorf("kept %s, %v", kept.Target, err)
	}

	replaced := b.do("PUT", path, `{"timeout":"2m"}`).want(t, http.StatusOK)
	for _, gone := range []string{"target", "max_attempts", "backoff", "expires_after", "expect_within"} {
		if strings.Contains(replaced.body, gone) {
			t.Errorf("a part of the earlier definition stayed: %s", replaced.body)
		}
	}
	if got := b.do("DELETE", path, "").want(t, http.StatusNoContent); got.body != "" {
		t.Errorf("answered %q", got.body)
	}
	b.do("GET", path, "").want(t, http.StatusNotFound)
	b.do("PUT", path, `{}`).want(t, http.StatusCreated)
}

// A name goes into the path with a slash as %2F, and is the same name then as in a job.
func TestTypeNamesInPaths(t *testing.T) {
	b := newBench(t)
	for _, name := range []string{"a", "a/b", "a/b.c/d-e:f_9", "reports.daily", strings.Repeat("t", core.MaxTypeBytes)} {
		path := "/v1/types/" + url.PathEscape(name)
		b.do("PUT", path, `{"timeout":"5s"}`).want(t, http.StatusCreated)
		got := decode[struct{ Type string }](t, b.do("GET", path, "").want(t, http.StatusOK))
		if got.Type != name {
			t.Errorf("%s: %q", path, got.Type)
		}
		if _, err := b.store.GetType(t.Context(), name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		b.do("DELETE", path, "").want(t, http.StatusNoContent)
	}
	b.do("PUT", "/v1/types/a%2fb", `{}`).want(t, http.StatusCreated) // lower case is the same
	b.do("GET", "/v1/types/a/b", "").want(t, http.StatusNotFound)    // another path
	for _, hostile := range []string{
		"a b", "100%", "a+b", "naïve", "队列", "😀", "a\"b", "a'b", "a<b", "a\x00b", "a\nb", "../a", "a/../b", "a//b", "/a", "a/", ".a", "a.", "1a", "-a", "a?x=1", "a#b", `a\b`,
		"x'); DROP TABLE jobs;--", strings.Repeat("t", core.MaxTypeBytes+1), "a\xff", "batch;x",
	} {
		for method, body := range map[string]string{"PUT": "{}", "GET": "", "DELETE": ""} {
			got := b.do(method, "/v1/types/"+url.PathEscape(hostile), body)
			if got.status != 422 && got.status != 404 {
				t.Errorf("%s %q: status %d: %s", method, hostile, got.status, got.body)
			}
		}
	}
	types, err := b.store.ListTypes(t.Context(), "", 10)
	if err != nil || len(types) != 1 || types[0].Name != "a/b" {
		t.Errorf("kept %+v, %v", types, err)
	}
}

func TestBadTypes(t *testing.T) {
	b := newBench(t, delivering)
	for _, row := range []struct {
		name, body string
		status     int
		field      string
	}{
		{"concurrency", `{"concurrency":5}`, 422, "concurrency"},
		{"rate", `{"rate":"10/s"}`, 422, "rate"},
		{"unknown", `{"retries":5}`, 422, "retries"},
		{"twice", `{"timeout":"5s","timeout":"6s"}`, 422, "timeout"},
		{"timeout 0", `{"timeout":"0s"}`, 422, "timeout"},
		{"timeout long", `{"timeout":"25h"}`, 422, "timeout"},
		{"expires_after 0", `{"expires_after":"0s"}`, 422, "expires_after"},
		{"expires_after empty", `{"expires_after":""}`, 422, "expires_after"},
		{"expires_after short", `{"expires_after":"999ms"}`, 422, "expires_after"},
		{"expires_after long", `{"expires_after":"9601h"}`, 422, "expires_after"},
		{"expires_after below zero", `{"expires_after":"-1h"}`, 422, "expires_after"},
		{"expect_within 0", `{"expect_within":"0s"}`, 422, "expect_within"},
		{"expect_within short", `{"expect_within":"999ms"}`, 422, "expect_within"},
		{"expect_within long", `{"expect_within":"9601h"}`, 422, "expect_within"},
		{"timeout a number", `{"timeout":5}`, 422, "timeout"},
		{"max_attempts 0", `{"max_attempts":0}`, 422, "max_attempts"},
		{"max_attempts 101", `{"max_attempts":101}`, 422, "max_attempts"},
		{"backoff empty", `{"backoff":[]}`, 422, "backoff"},
		{"backoff too short to be kept", `{"backoff":["1ns"]}`, 422, "backoff[0]"},
		{"backoff absurd", `{"backoff":["1s","721h"]}`, 422, "backoff[1]"},
		{"target a string", `{"target":"https://hooks.example.com"}`, 422, "target"},
		{"target null", `{"target":null}`, 422, "target"},
		{"target empty", `{"target":{}}`, 422, "target.url"},
		{"target with more", `{"target":{"url":"https://hooks.example.com","method":"GET"}}`, 422, "target"},
		{"target elsewhere", `{"target":{"url":"http://169.254.169.254/latest/meta-data/"}}`, 422, "target.url"},
		{"header of ours", `{"target":{"url":"https://hooks.example.com","headers":{"Webhook-Id":"1"}}}`, 422, "target.headers"},
		{"header with a line", `{"target":{"url":"https://hooks.example.com","headers":{"x":"a\r\nb"}}}`, 422, "target.headers"},
		{"the mask", `{"target":{"url":"https://hooks.example.com","headers":{"authorization":"********"}}}`, 422, "target.headers"},
		{"array", `[]`, 422, "body"},
		{"not JSON", `{`, 400, "body"},
		{"nothing", ``, 415, "Content-Type"},
	} {
		t.Run(row.name, func(t *testing.T) {
			b.t = t
			got := b.do("PUT", "/v1/types/hook", row.body).want(t, row.status)
			if p := decode[problem.Problem](t, got); len(p.Errors) == 0 || p.Errors[0].Field != row.field {
				t.Errorf("problem %s, want the field %s", got.body, row.field)
			}
		})
	}
	b.t = t
	b.do("PUT", "/v1/types/hook?if=1", "{}").want(t, 422)
	b.do("GET", "/v1/types?limit=0", "").want(t, 422)
	b.do("GET", "/v1/types?cursor=x", "").want(t, 422)
	b.do("GET", "/v1/types?type=x", "").want(t, 422)
	b.do("POST", "/v1/types", "{}").want(t, 405)
	if types, err := b.store.ListTypes(t.Context(), "", 10); err != nil || len(types) != 0 {
		t.Errorf("kept %+v, %v", types, err)
	}
}

func TestListTypesPages(t *testing.T) {
	b := newBench(t)
	for i := range 7 {
		b.do("PUT", fmt.Sprintf("/v1/types/t%d", i), "{}").want(t, http.StatusCreated)
	}
	type page struct {
		Items      []struct{ Type string }
		NextCursor string `json:"next_cursor"`
	}
	var names []string
	pages, cursor := 0, ""
	for {
		p := decode[page](t, b.do("GET", "/v1/types?limit=3&cursor="+cursor, "").want(t, map[bool]int{true: 422, false: 200}[pages == 0]))
		if pages == 0 { // an empty cursor is none of ours: begin without
			p = decode[page](t, b.do("GET", "/v1/types?limit=3", "").want(t, 200))
		}
		pages++
		for _, item := range p.Items {
			names = append(names, item.Type)
		}
		if cursor = p.NextCursor; cursor == "" {
			break
		}
	}
	if got := strings.Join(names, " "); got != "t0 t1 t2 t3 t4 t5 t6" || pages != 3 {
		t.Errorf("%d pages: %s", pages, got)
	}
}

// Secrets in a target's headers are in no answer; where nothing delivers a target is refused by the setting's name.
func TestTargetsOfJobs(t *testing.T) {
	const job = `{"type":"hook","target":{"url":"https://hooks.example.com/x","headers":{"authorization":"Bearer canary"}}}`
	b := newBench(t, delivering)
	a := b.do("POST", "/v1/jobs", job).want(t, http.StatusCreated)
	id := decode[struct{ ID string }](t, a).ID
	batch := b.do("POST", "/v1/jobs/batch", `{"jobs":[`+job+`,{"type":"hook","target":{"url":"http://10.0.0.1/"}},`+job+`]}`).want(t, http.StatusOK)
	for name, got := range map[string]Writer{"submit": a, "get": b.do("GET", "/v1/jobs/"+id, ""), "list": b.do("GET", "/v1/jobs", ""), "batch": batch} {
		if !strings.Contains(got.body, `"target":{"url":"https://hooks.example.com/x","headers":{"authorization":"********"}}`) || strings.Contains(got.body, "canary") {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	items := decode[struct{ Items []json.RawMessage }](t, batch).Items
	if len(items) != 3 || !strings.Contains(string(items[1]), `"field":"jobs[1].target.url"`) {
		t.Errorf("batch %s", batch.body)
	}

	closed := newBench(t)
	for method, call := range map[string][2]string{"POST": {"/v1/jobs", job}, "PUT": {"/v1/types/hook", `{"target":{"url":"https://hooks.example.com/x"}}`}} {
		got := closed.do(method, call[0], call[1]).want(t, 422)
		if !strings.Contains(got.body, "BELFRY_WEBHOOK_SECRETS") {
			t.Errorf("%s: %s", method, got.body)
		}
	}
}
