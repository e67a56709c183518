package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// What a tenant's token submits is its tenant's, one by one and in batches; another tenant is refused by name.
func TestTenantSubmitsForItself(t *testing.T) {
	b := newBench(t)
	admin, token := b.keep(core.Token{Role: core.RoleAdmin}), b.keep(core.Token{Role: core.RoleSubmit, Tenant: "acme"})
	held := decode[job](t, b.as(admin, "POST", "/v1/jobs", `{"type":"echo","tenant":"globex","dedupe_key":"d"}`).want(t, http.StatusCreated))
	for _, field := range []string{"", `,"tenant":"acme"`} {
		got := decode[job](t, b.as(token, "POST", "/v1/jobs", `{"type":"echo"`+field+`}`).want(t, http.StatusCreated))
		if got.Tenant != "acme" || decode[job](t, b.as(admin, "GET", "/v1/jobs/"+got.ID, "")).Tenant != "acme" {
			t.Errorf("%s: %+v", field, got)
		}
	}
	for _, name := range []string{"globex", "ACME", "acme ", "nobody", ""} {
		got := b.as(token, "POST", "/v1/jobs", `{"type":"echo","tenant":"`+name+`"}`).want(t, http.StatusUnprocessableEntity)
		if !strings.Contains(got.body, `"field":"tenant"`) {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	batch := b.as(token, "POST", "/v1/jobs/batch", `{"jobs":[{"type":"echo"},{"type":"echo","tenant":"globex"},{"type":"echo","tenant":"acme","dedupe_key":"d"}]}`).want(t, http.StatusOK)
	if strings.Count(batch.body, `"tenant":"acme"`) != 2 || !strings.Contains(batch.body, `"field":"jobs[1].tenant"`) || strings.Contains(batch.body, held.ID+`"`) || strings.Contains(batch.body, "duplicate") {
		t.Errorf("%s", batch.body)
	}
	list := b.as(admin, "GET", "/v1/jobs?limit=100", "").want(t, http.StatusOK)
	if strings.Count(list.body, `"tenant":"globex"`) != 1 || strings.Count(list.body, `"tenant":"acme"`) != 4 {
		t.Errorf("%s", list.body)
	}
}

// A tenant's numbers are its own, and a cursor is good for the tenant it was made for.
func TestTenantCountsItsOwn(t *testing.T) {
	b := newBench(t)
	admin, token := b.keep(core.Token{Role: core.RoleAdmin}), b.keep(core.Token{Role: core.RoleRead, Tenant: "acme"})
	for range 3 {
		b.as(admin, "POST", "/v1/jobs", `{"type":"echo","tenant":"globex"}`).want(t, http.StatusCreated)
	}
	for range 2 {
		b.as(admin, "POST", "/v1/jobs", `{"type":"echo","tenant":"acme"}`).want(t, http.StatusCreated)
	}
	type numbers struct {
		Queues []struct{ Scheduled, Due int }
		Types  []any
	}
	all, own := decode[numbers](t, b.as(admin, "GET", "/v1/stats", "")), decode[numbers](t, b.as(token, "GET", "/v1/stats", ""))
	if all.Queues[1].Scheduled != 5 || own.Queues[1].Scheduled != 2 || len(own.Types) != 0 {
		t.Errorf("all %+v, own %+v", all, own)
	}
	type page struct {
		Items []job
		Next  string `json:"next_cursor"`
	}
	whole := decode[page](t, b.as(admin, "GET", "/v1/jobs?limit=1", ""))
	b.as(token, "GET", "/v1/jobs?limit=1&cursor="+whole.Next, "").want(t, http.StatusUnprocessableEntity)
	mine := decode[page](t, b.as(token, "GET", "/v1/jobs?limit=1", ""))
	if next := decode[page](t, b.as(token, "GET", "/v1/jobs?limit=1&cursor="+mine.Next, "")); len(next.Items) != 1 || next.Items[0].Tenant != "acme" {
		t.Errorf("%+v", next)
	}
	b.as(token, "GET", "/v1/jobs?tenant=acme", "").want(t, http.StatusOK)
	b.as(token, "GET", "/v1/jobs?tenant=globex", "").want(t, http.StatusNotFound)
	b.as(token, "GET", "/v1/jobs?tenant=", "").want(t, http.StatusNotFound)
}
