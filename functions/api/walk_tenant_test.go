package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// tenant is one tenant of a walk: jobs in every state, and the words that name what it has.
type tenant struct {
	name           string
	token, tokenID string
	scheduled      int64
	all            []int64
	leases         []string // of its running job
	cursors        []string
	keyed          [2]string // a body, and the idempotency key it was submitted with
}

func (o *tenant) ids() []string {
	var ids []string
	for _, id := range o.all {
		ids = append(ids, strconv.FormatInt(id, 10))
	}
	return ids
}

// marks are words that only the tenant's things hold, beside hidden. What it has that the walk sends too, as its
// dedupe keys, may come back: the walk's own jobs have it then.
func (o *tenant) marks() []string {
	return []string{o.tokenID, o.token[len(o.token)-20:], o.name + "-failed", `"tenant":"` + o.name}
}

// keepTenant makes a tenant with an admin's token of its own and jobs in every state. What it submits is hidden in it.
func (b *bench) keepTenant(t *testing.T, name string) *tenant {
	t.Helper()
	o := &tenant{name: name, token: b.keep(core.Token{Role: core.RoleAdmin, Tenant: name})}
	o.tokenID, _, _ = core.ParseToken(o.token)
	word := hidden
	if name == "acme" {
		word = "acme-own" // who walks
	}
	submit := func(more string, header ...string) int64 {
		body := `{"type":"` + name + `.work","payload":{"p":"` + word + `"},"tags":["` + name + `-tag","` + word + `"]` + more + `}`
		a := b.as(o.token, "POST", "/v1/jobs", body, header...).want(t, http.StatusCreated)
		id, err := strconv.ParseInt(decode[job](t, a).ID, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		o.all = append(o.all, id)
		if len(header) > 0 {
			o.keyed = [2]string{body, header[1]}
		}
		return id
	}
	end := func(outcome core.Outcome) {
		end := core.End{Ref: b.claimOf(name + ".work"), Outcome: outcome}
		if outcome == core.EndDone {
			end.Result = []byte(`"` + word + `"`)
		} else {
			end.Errors = []core.AttemptError{{Attempt: 1, At: time.Now().UTC(), Error: word, Kind: "error"}}
			end.Wait = time.Hour
		}
		if _, err := b.store.Finish(t.Context(), []core.End{end}); err != nil {
			t.Fatal(err)
		}
	}
	for _, outcome := range []core.Outcome{core.EndDone, core.EndFail, core.EndFail, core.EndRetry} {
		submit("")
		end(outcome)
	}
	submit(`,"dedupe_key":"` + name + `-failed"`)
	end(core.EndFail)
	submit("")
	running := b.claimOf(name + ".work")
	o.leases = []string{b.leases.Mint(t.Context(), running)}
	cancelled := submit(`,"delay":"1h"`)
	b.as(o.token, "POST", "/v1/jobs/"+strconv.FormatInt(cancelled, 10)+"/cancel", "").want(t, http.StatusOK)
	submit(`,"delay":"1h","dedupe_key":"`+name+`-dedupe"`, "Idempotency-Key", name+"-key")
	o.scheduled = submit(`,"delay":"2h"`)
	b.keepSchedules(t, o, word)
	for _, list := range []string{"/v1/jobs?limit=1", "/v1/dead-letters?limit=1", "/v1/schedules?limit=1", "/v1/alerts?limit=1", "/v1/schedules/" + name + "-schedule/occurrences?limit=1"} {
		var page struct {
			Next string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(b.as(o.token, "GET", list, "").want(t, http.StatusOK).body), &page); err != nil || page.Next == "" {
			t.Fatalf("%s: %q, %v", list, page.Next, err)
		}
		o.cursors = append(o.cursors, page.Next)
	}
	return o
}

// keepSchedules makes schedules of a tenant, with runs, a ledger and alerts.
func (b *bench) keepSchedules(t *testing.T, o *tenant, word string) {
	t.Helper()
	for _, name := range []string{o.name + "-schedule", o.name + "-put"} {
		b.as(o.token, "PUT", "/v1/schedules/"+name, `{"cron":"@hourly","type":"`+o.name+`.work","payload":{"p":"`+word+`"},"tags":["`+word+`"],"jitter":"1h"}`).want(t, http.StatusCreated)
	}
	run := b.as(o.token, "POST", "/v1/schedules/"+o.name+"-schedule/trigger", "").want(t, http.StatusCreated)
	id, err := strconv.ParseInt(decode[job](t, run).ID, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	o.all = append(o.all, id)
	s, err := b.store.GetSchedule(t.Context(), o.name, o.name+"-schedule")
	if err != nil {
		t.Fatal(err)
	}
	step := core.Advance{ID: s.ID, Version: s.Version, Moves: s.Moves, State: s.State}
	step.State.Accounted = step.State.Accounted.Add(time.Second)
	for i := range 2 {
		at := s.State.Accounted.Add(time.Duration(i+1) * 100 * time.Millisecond)
		step.Occurrences = append(step.Occurrences, core.Ledgered{Job: -1, Occurrence: core.Occurrence{From: at, To: at, Count: 1, Outcome: core.OccurrenceSkipped, Reason: core.SkippedPaused}})
	}
	if answers, err := b.store.AdvanceSchedules(t.Context(), []core.Advance{step}, nil); err != nil || answers[0].Stale {
		t.Fatal(answers, err)
	}
	alerts := []core.Alert{
		{Kind: core.AlertScheduleMissed, Tenant: o.name, Subject: o.name + "-schedule", Detail: word},
		{Kind: core.AlertScheduleMissed, Tenant: o.name, Subject: o.name + "-put", Detail: word},
	}
	if err := b.store.RaiseAlerts(t.Context(), alerts); err != nil {
		t.Fatal(err)
	}
}

// claimOf starts the job of a type that is due.
func (b *bench) claimOf(typ string) core.Ref {
	b.t.Helper()
	res, err := b.store.ClaimDue(b.t.Context(), core.ClaimRequest{
		WorkerID: "w", ClaimID: time.Now().UnixNano(), Lease: time.Hour, Quotas: []core.Quota{{Priority: core.Default, Type: typ, Limit: 1}},
	})
	if err != nil || len(res.Jobs) != 1 {
		b.t.Fatalf("%d jobs claimed, %v", len(res.Jobs), err)
	}
	return core.Ref{ID: res.Jobs[0].ID, Token: res.Jobs[0].LeaseToken}
}

// value is what the walk puts under a name, in a query, a header or a body: the other's where it can be anybody's. One
// that it does not know fails the walk.
func (o *tenant) value(t *testing.T, op *openOperation, name string) []string {
	t.Helper()
	values := map[string][]string{
		"tenant": {o.name}, "type": {o.name + ".work"}, "tag": {o.name + "-tag"}, "dedupe_key": {o.name + "-dedupe"}, "cursor": o.cursors,
		"id": {o.ids()[1], o.ids()[4]}, "status": {"failed", "running", "scheduled", "done"}, "priority": {"default"}, "limit": {"1000"}, "all": {"true"},
		"run_after": {"2020-01-01T00:00:00Z"}, "run_before": {"2090-01-01T00:00:00Z"}, "failed_before": {"2090-01-01T00:00:00Z"}, "failed_after": {"2020-01-01T00:00:00Z"},
		"wait": {"1ms"}, "Idempotency-Key": {o.keyed[1], "fresh"}, "lease_token": o.leases, "run_at": {"2030-01-01T00:00:00Z"}, "delay": {"1h"},
		"expires_at": {"2040-01-01T00:00:00Z"}, "timeout": {"90s"}, "name": {"n"}, "role": {"admin"}, "error": {"e"}, "retry_after": {"1s"},
		"error_group": {"0123456789abcdef"}, "group": {"0123456789abcdef"}, "schedule": {o.name + "-schedule"}, "every": {"1s"}, "pace": {"1s"}, "spread": {"1m"},
		"after": {o.ids()[1]}, "from": {"2030-01-01T00:00:00Z"}, "dry_run": {"true", "false"},
		"to": {"2030-01-02T00:00:00Z"}, "cron": {"0 0 1 1 *"}, "time_zone": {"Europe/Berlin"}, "dst_gap": {"skip"}, "dst_overlap": {"both"}, "starts_at": {"2030-01-01T00:00:00Z"},
		"ends_at": {"2040-01-01T00:00:00Z"}, "missed": {"all"}, "missed_window": {"1h"}, "missed_grace": {"1m"}, "overlap": {"skip"}, "jitter": {"1s"}, "expect_within": {"1h"}, "expires_after": {"1h"},
		"paused": {"true", "false"}, "open": {"true", "false"}, "kind": {core.AlertScheduleMissed}, "outcome": {"fired", "skipped"}, "count": {"3"},
		"If-Match": {`"1"`, `"2"`, "*"}, "If-None-Match": {"*"},
	}
	known := values[name]
	if known == nil {
		t.Errorf("%s: the walk does not know what to put under %q: tell it here", op.OperationID, name)
	}
	return known
}

// bodies are what the operation takes: with what is required, and with each further field alone.
func (w *stroll) bodies(t *testing.T) []string {
	if w.op.RequestBody == nil {
		return []string{""}
	}
	schema := w.schema(w.op.RequestBody.Content["application/json"].Schema)
	var bodies []string
	for _, required := range w.objects(t, schema) {
		bodies = append(bodies, string(required))
	}
	if w.op.OperationID == "submit-job" {
		bodies = append(bodies, w.other.keyed[0])
	}
	return bodies
}

func (w *stroll) schema(s *openSchema) *openSchema {
	if s != nil && s.Ref != "" {
		return w.doc.Components.Schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]]
	}
	return s
}

// objects are documents of a schema, each with the required fields and at most one more.
func (w *stroll) objects(t *testing.T, s *openSchema) []json.RawMessage {
	least := map[string]json.RawMessage{}
	for _, name := range s.Required {
		least[name] = w.fields(t, name, s.Properties[name])[0]
	}
	objects := []json.RawMessage{marshal(t, least)}
	for name, of := range s.Properties {
		for _, value := range w.fields(t, name, of) {
			object := map[string]json.RawMessage{name: value}
			for required, value := range least {
				if required != name {
					object[required] = value
				}
			}
			objects = append(objects, marshal(t, object))
		}
	}
	return objects
}

// fields are values of one field.
func (w *stroll) fields(t *testing.T, name string, s *openSchema) (values []json.RawMessage) {
	s = w.schema(s)
	kinds, _ := json.Marshal(s.Type)
	switch kind := string(kinds); {
	case name == "ids":
		return []json.RawMessage{marshal(t, []string{w.other.ids()[1]}), marshal(t, w.other.ids())}
	case name == "jobs":
		return []json.RawMessage{marshal(t, w.objects(t, w.schema(s.Items)))}
	case name == "payload" || name == "result":
		return []json.RawMessage{json.RawMessage(`{"a":1}`)}
	case name == "backoff" || name == "target" || name == "tags":
		return []json.RawMessage{map[string]json.RawMessage{"backoff": json.RawMessage(`["1s"]`), "tags": marshal(t, []string{w.other.name + "-tag"}),
			"target": json.RawMessage(`{"url":"https://example.com/"}`)}[name]}
	case strings.Contains(kind, "boolean"):
		return []json.RawMessage{json.RawMessage("true"), json.RawMessage("false")}
	case strings.Contains(kind, "integer"), strings.Contains(kind, "number"):
		return []json.RawMessage{json.RawMessage("7")}
	}
	for _, value := range w.other.value(t, w.op, name) {
		values = append(values, marshal(t, value))
	}
	if len(values) == 0 {
		values = []json.RawMessage{json.RawMessage("null")}
	}
	return values
}

func marshal(t *testing.T, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clip(text)
}

func query(name, value string) string { return url.Values{name: {value}}.Encode() }
