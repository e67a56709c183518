package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
)

// Every write of the served document refuses, by name, each header that promises something and that its operation does
// not name: the idempotency key and the preconditions. Reads ignore them, and an operation takes those that it names.
func TestWritesRefuseHeadersTheyDoNotSupport(t *testing.T) {
	b := newBench(t)
	admin := b.keep(core.Token{Role: core.RoleAdmin})
	values := map[string]string{key: "k", "If-Match": `"99"`, "If-None-Match": "*"}
	doc := decode[openDoc](t, b.as(admin, "GET", "/openapi.json", "").want(t, http.StatusOK))
	taken := map[string][]string{}
	var walked []string
	for path, methods := range doc.Paths {
		target := strings.NewReplacer("{id}", "1", "{type}", "a", "{name}", "a").Replace(path)
		for method, op := range methods {
			walked = append(walked, op.OperationID)
			for name, value := range values {
				got := b.as(admin, strings.ToUpper(method), target, "", name, value)
				named := slices.ContainsFunc(op.Parameters, func(p *openParam) bool { return p.In == "header" && p.Name == name })
				refused := got.status == http.StatusUnprocessableEntity && strings.Contains(got.body, `"field":"`+name+`"`) && strings.Contains(got.body, "is not supported by this call")
				if want := method != "get" && !named; refused != want {
					t.Errorf("%s with %s: %d %s", op.OperationID, name, got.status, got.body)
				}
				if named {
					taken[name] = append(taken[name], op.OperationID)
				}
			}
		}
	}
	if slices.Sort(walked); !slices.Equal(walked, api.NeededOperations()) {
		t.Errorf("walked were\n%v, but what there is, is\n%v", walked, api.NeededOperations())
	}
	for name, want := range map[string][]string{key: {"submit-batch", "submit-job"}, "If-Match": {"delete-schedule", "put-schedule"}, "If-None-Match": {"delete-schedule", "put-schedule"}} {
		if slices.Sort(taken[name]); !slices.Equal(taken[name], want) {
			t.Errorf("%s is taken by %v, not %v", name, taken[name], want)
		}
	}
}

// What a refused precondition was to protect stays as it is.
func TestRefusedPreconditionChangesNothing(t *testing.T) {
	b := newBench(t)
	b.do("PUT", "/v1/types/echo", `{"max_attempts":3}`).want(t, http.StatusCreated)
	b.do("PUT", "/v1/schedules/s", `{"cron":"@hourly","type":"echo"}`).want(t, http.StatusCreated)
	all := func() string {
		return b.do("GET", "/v1/types/echo", "", "If-None-Match", "*").want(t, http.StatusOK).body + b.do("GET", "/v1/schedules/s", "").want(t, http.StatusOK).body
	}
	before := all()
	for _, call := range [][3]string{
		{"PUT", "/v1/types/echo", `{"max_attempts":5}`}, {"DELETE", "/v1/types/echo", ""},
		{"POST", "/v1/schedules/s/pause", ""}, {"POST", "/v1/schedules/s/resume", ""}, {"POST", "/v1/schedules/s/trigger", ""},
	} {
		for _, header := range [][2]string{{"If-Match", `"99"`}, {"If-None-Match", "*"}} {
			b.do(call[0], call[1], call[2], header[:]...).want(t, http.StatusUnprocessableEntity)
		}
	}
	if after := all(); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}
