package api_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// Jobs of Belfry itself, such as those that deliver alerts, are seen by whoever sees jobs and changed by admins only: a
// token that submits must not be able to keep an alert from its receiver. What ends or puts off a job is walked whole.
func TestOwnJobsAreChangedByAdminsOnly(t *testing.T) {
	b := newBench(t)
	admin := b.keep(core.Token{Role: core.RoleAdmin})
	others := map[string]string{"submit": b.keep(core.Token{Role: core.RoleSubmit}), "submit of a tenant": b.keep(core.Token{Role: core.RoleSubmit, Tenant: "acme"})}
	for what, body := range map[string]string{"cancel": "", "reschedule": `{"delay":"1h"}`, "retry": ""} {
		made, err := b.store.Submit(t.Context(), []core.NewJob{{Type: core.AlertType, Priority: core.Critical, MaxAttempts: 1, DedupeKey: "belfry.alert " + what}})
		if err != nil {
			t.Fatal(err)
		}
		path := "/v1/jobs/" + strconv.FormatInt(made[0].ID, 10)
		before := b.as(admin, "GET", path, "").want(t, http.StatusOK)
		for who, token := range others {
			want := http.StatusForbidden
			if strings.HasSuffix(who, "tenant") {
				want = http.StatusNotFound
			}
			b.as(token, "POST", path+"/"+what, body).want(t, want)
			if after := b.as(admin, "GET", path, ""); after.body != before.body {
				t.Errorf("%s by %s: %s", what, who, after.body)
			}
		}
		if status := b.as(admin, "POST", path+"/"+what, body).status; status != http.StatusOK && status != http.StatusConflict {
			t.Errorf("%s by an admin: %d", what, status)
		}
	}
}

// Belfry's own types and dedupe keys are refused wherever a caller may give one, whatever his role.
func TestReservedNamesAreRefused(t *testing.T) {
	b := newBench(t)
	admin := b.keep(core.Token{Role: core.RoleAdmin})
	for _, name := range []string{"belfry.alert", "belfry.alert.mine", "Belfry.Alert"} {
		for _, call := range [][3]string{
			{"POST", "/v1/jobs", `{"type":"` + name + `"}`},
			{"POST", "/v1/jobs", `{"type":"echo","dedupe_key":"` + name + ` 1 raised"}`},
			{"POST", "/v1/jobs/batch", `{"jobs":[{"type":"` + name + `"}]}`},
			{"POST", "/v1/jobs/batch", `{"jobs":[{"type":"echo","dedupe_key":"` + name + `"}]}`},
			{"PUT", "/v1/types/" + name, `{"timeout":"1m"}`},
			{"PUT", "/v1/schedules/s", `{"every":"1m","type":"` + name + `"}`},
			{"POST", "/v1/schedules/s/plan", `{"every":"1m","type":"` + name + `"}`},
		} {
			got := b.as(admin, call[0], call[1], call[2])
			want := http.StatusUnprocessableEntity
			if strings.HasSuffix(call[1], "/batch") {
				want = http.StatusOK
			}
			if got.status != want || !strings.Contains(got.body, "must not begin with belfry.") {
				t.Errorf("%s: %d %s", call, got.status, got.body)
			}
		}
	}
	if page := b.as(admin, "GET", "/v1/jobs", ""); !strings.Contains(page.body, `"items":[]`) {
		t.Errorf("kept: %s", page.body)
	}
	b.as(admin, "GET", "/v1/types/belfry.alert", "").want(t, http.StatusNotFound) // one may look
}
