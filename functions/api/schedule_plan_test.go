package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/functions/api/problem"
)

type scheduleChange struct {
	Action, Description string
	Fields              []string
	Version             int64
}

// A plan says what putting a definition would change, by value: instants in any offset and with any digits, payloads
// however they are written, and the values of headers, of which it shows nothing.
func TestPlanSchedule(t *testing.T) {
	b := newBench(t, delivering)
	const path = "/v1/schedules/nightly"
	const definition = `{"cron":"30 2 * * *","time_zone":"Europe/Berlin","starts_at":"2030-01-01T10:00:00.1234567+02:00","type":"report","timeout":"90s",` +
		`"payload":{"a":1.50,"b":["x",null]},"target":{"url":"https://hooks.example.com/x","headers":{"authorization":"Bearer canary","x-key":"canary 2"}},"tags":["x"]}`
	plan := func(body string) scheduleChange {
		t.Helper()
		got := b.do("POST", path+"/plan", body).want(t, 200)
		if strings.Contains(got.body, "canary") {
			t.Errorf("a secret is shown: %s", got.body)
		}
		return decode[scheduleChange](t, got)
	}
	if got := plan(definition); got.Action != "create" || got.Version != 0 || got.Description != "At 02:30 every day, Europe/Berlin, from 2030-01-01T09:00:00+01:00" {
		t.Errorf("before it is made: %+v", got)
	}
	b.do("GET", path, "").want(t, 404)
	b.do("PUT", path, definition).want(t, 201)
	base := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(definition), &base); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ field, value, changes string }{
		{"type", `"report"`, ""},
		{"starts_at", `"2030-01-01T08:00:00.123456Z"`, ""}, {"starts_at", `"2030-01-01T03:00:00.12345600-05:00"`, ""}, {"starts_at", `"2030-01-01T08:00:00.123457Z"`, "starts_at"},
		{"payload", `{ "b" : [ "\u0078" , null ] , "a" : 1.50 }`, ""}, {"payload", `{"a":1.5,"b":["x",null]}`, "payload"}, {"payload", `{"a":1.50,"b":["x"]}`, "payload"},
		{"timeout", `"1m30s"`, ""}, {"timeout", `"91s"`, "timeout"}, {"priority", `"default"`, ""}, {"missed", `"once"`, ""}, {"missed", `"all"`, "missed"}, {"tags", `[]`, "tags"},
		{"target", `{"headers":{"x-key":"canary 2","authorization":"Bearer canary"},"url":"https://hooks.example.com/x"}`, ""},
		{"target", `{"url":"https://hooks.example.com/x","headers":{"authorization":"Bearer canary","x-key":"canary 3"}}`, "target.headers.x-key"},
		{"target", `{"url":"https://hooks.example.com/y","headers":{"authorization":"Bearer other"}}`, "target.headers.authorization target.headers.x-key target.url"},
		{"target", `{"url":"https://hooks.example.com/x"}`, "target.headers.authorization target.headers.x-key"},
		{"target", ``, "target.headers.authorization target.headers.x-key target.url"}, {"cron", `"45 3 * * *"`, "cron"},
	} {
		body := maps.Clone(base)
		if body[row.field] = json.RawMessage(row.value); row.value == "" {
			delete(body, row.field)
		}
		got := plan(string(marshal(t, body)))
		if want := strings.Fields(row.changes); !slices.Equal(got.Fields, want) || got.Version != 1 || got.Action != map[bool]string{true: "none", false: "change"}[len(want) == 0] {
			t.Errorf("%s %s: %+v, want %q", row.field, row.value, got, want)
		}
	}
	if got := decode[shownSchedule](t, b.do("GET", path, "").want(t, 200)); got.Version != 1 {
		t.Errorf("a plan changed it: %+v", got)
	}
}

// What PUT refuses a plan refuses with the same words, so that nothing is found out half-way.
func TestPlanRefusesWhatPutRefuses(t *testing.T) {
	for name, b := range map[string]*bench{"delivering": newBench(t, delivering), "without webhook secrets": newBench(t)} {
		refused := 0
		for _, body := range []string{
			`{`, `[]`, `{}`, `{"cron":"@daily"}`, `{"cron":"61 * * * *","time_zone":"Mars","type":"a b","missed":""}`, `{"cron":"@daily","type":"a","colour":1}`,
			`{"every":"1h","type":"a","missed_grace":"1s"}`, `{"every":"1h","type":"a","missed_grace":"0s"}`, `{"every":"1h","type":"a","payload":"\u0000"}`,
			`{"every":"1h","type":"a","target":{"url":"https://hooks.example.com"}}`, `{"every":"1h","type":"a","target":{"url":"http://169.254.169.254/"}}`,
			`{"every":"1h","type":"a","target":{"url":"https://hooks.example.com","headers":{"a":"********"}}}`,
		} {
			plan, put := b.do("POST", "/v1/schedules/s/plan", body), b.do("PUT", "/v1/schedules/s", body)
			if plan.status >= 400 {
				refused++
			}
			if put.status < 400 && plan.status == 200 {
				continue
			}
			if plan.status != put.status || plan.body != put.body {
				t.Errorf("%s: %s\nplan %d %s\nput  %d %s", name, body, plan.status, plan.body, put.status, put.body)
			}
		}
		if refused < 11 {
			t.Errorf("%s: %d refused", name, refused)
		}
	}
}

// emptyIsMeant are empty values that say what they mean. Beside them a payload may be any JSON.
var emptyIsMeant = map[string][]string{
	"tags": {`[]`}, "jitter": {`"0s"`}, "tenant": {`" "`, `"0s"`},
}

// A field of a schedule or a type that is given is meant: empty or zero it is refused by its name, and never taken as left out.
func TestNoFieldOfADefinitionIsMeantAsNothing(t *testing.T) {
	b := newBench(t, delivering)
	doc := decode[openDoc](t, b.do("GET", "/openapi.json", "").want(t, 200))
	fields := 0
	for _, at := range []struct{ id, method, target, body string }{
		{"put-schedule", "PUT", "/v1/schedules/s", `{"cron":"@daily","type":"a"}`}, {"plan-schedule", "POST", "/v1/schedules/s/plan", `{"cron":"@daily","type":"a"}`},
		{"preview-schedule", "POST", "/v1/schedules/preview", `{"cron":"@daily"}`}, {"put-type", "PUT", "/v1/types/a", `{}`},
		{"backfill-schedule", "POST", "/v1/schedules/s/backfill", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z","dry_run":true}`},
	} {
		good := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(at.body), &good); err != nil {
			t.Fatal(err)
		}
		doc.each(func(_, _ string, op *openOperation) {
			if op.OperationID != at.id {
				return
			}
			for name := range doc.find(op.RequestBody.Content["application/json"].Schema).Properties {
				fields++
				for _, empty := range []string{`""`, `" "`, `0`, `"0s"`, `null`, `[]`, `{}`, `[""]`, `[null]`} {
					if slices.Contains(emptyIsMeant[name], empty) || name == "payload" {
						continue
					}
					with := maps.Clone(good)
					if with[name] = json.RawMessage(empty); name == "every" {
						delete(with, "cron")
					}
					got := b.do(at.method, at.target, string(marshal(t, with)))
					if at.id == "backfill-schedule" && got.status == 404 {
						t.Fatal("no schedule to backfill")
					}
					if named := decode[problem.Problem](t, got); got.status != 422 || !slices.ContainsFunc(named.Errors, func(e problem.FieldProblem) bool {
						return e.Field == name || strings.HasPrefix(e.Field, name+"[") || strings.HasPrefix(e.Field, name+".")
					}) {
						t.Errorf("%s with %s: %s: %d %s", at.id, name, empty, got.status, got.body)
					}
				}
			}
		})
		if at.id == "put-schedule" {
			b.do("PUT", "/v1/schedules/s", `{"cron":"@daily","type":"a"}`)
		}
	}
	if fields < 60 {
		t.Errorf("%d fields", fields)
	}
	t.Logf("%d fields", fields)
}
