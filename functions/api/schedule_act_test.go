package api_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
)

// preview is an answer of preview and next.
type preview struct {
	Description string
	Items       []struct{ At, DST string }
	Warnings    []string
}

// Preview shows the offset of each date, what a change of the clock does, and what may surprise.
func TestPreview(t *testing.T) {
	b := newBench(t)
	ask := func(body string) preview {
		return decode[preview](t, b.do("POST", "/v1/schedules/preview", body).want(t, 200))
	}
	got := b.do("POST", "/v1/schedules/preview", `{"cron":"30 2 * * *","time_zone":"Europe/Berlin","from":"2026-03-28T12:00:00Z","count":2}`).want(t, 200)
	const want = `{"description":"At 02:30 every day, Europe/Berlin","items":[{"at":"2026-03-29T03:00:00+02:00","dst":"gap"},{"at":"2026-03-30T02:30:00+02:00"}],"warnings":[`
	if !strings.HasPrefix(got.body, want) {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
	if p := ask(`{"cron":"30 2 * * *","time_zone":"Europe/Berlin","dst_overlap":"both","from":"2026-10-24T12:00:00Z","count":2}`); len(p.Items) != 2 ||
		p.Items[0].At != "2026-10-25T02:30:00+02:00" || p.Items[1].At != "2026-10-25T02:30:00+01:00" || p.Items[1].DST != "overlap" {
		t.Errorf("%+v", p)
	}
	if p := ask(`{"cron":"0 0 13 * FRI","count":1}`); len(p.Warnings) == 0 {
		t.Error("both day fields, and nothing is said of it")
	}
	if p := ask(`{"cron":"@daily"}`); len(p.Items) != 10 || p.Warnings == nil {
		t.Errorf("%+v", p)
	}
	// From is exclusive; what ends has fewer items than were asked for.
	if p := ask(`{"cron":"@daily","from":"2030-01-01T00:00:00Z","ends_at":"2030-01-04T00:00:00Z"}`); len(p.Items) != 2 || p.Items[0].At != "2030-01-02T00:00:00Z" {
		t.Errorf("%+v", p)
	}
	if p := ask(`{"every":"90s","starts_at":"2030-01-01T00:00:00Z","from":"2030-01-01T00:00:00Z","count":1000}`); len(p.Items) != 1000 || p.Items[0].At != "2030-01-01T00:01:30Z" {
		t.Errorf("%d items", len(p.Items))
	}
	// What may surprise is seen from where one asks, not from where the answer ends.
	near, far := ask(`{"cron":"0 0 13 * FRI","time_zone":"Europe/Berlin","from":"2026-03-01T00:00:00Z","count":1}`), ask(`{"cron":"0 0 13 * FRI","time_zone":"Europe/Berlin","from":"2026-03-01T00:00:00Z","count":1000}`)
	if strings.Join(near.Warnings, ";") != strings.Join(far.Warnings, ";") || len(near.Warnings) == 0 {
		t.Errorf("%q and %q", near.Warnings, far.Warnings)
	}
	for _, row := range [][2]string{{`{}`, "cron"}, {`{"cron":"0 0 30 2 *"}`, "cron"}, {`{"cron":"@daily","count":0}`, "count"}, {`{"cron":"@daily","count":1001}`, "count"}, {`{"cron":"@daily","from":"x"}`, "from"}, {`{"cron":"@daily","type":"a"}`, "type"}} {
		if got := b.do("POST", "/v1/schedules/preview", row[0]).want(t, 422); !strings.Contains(got.body, `"field":"`+row[1]+`"`) {
			t.Errorf("%s: %s", row[0], got.body)
		}
	}
}

// A schedule goes through its life by ticks under a clock that is stepped: next is what fires, the ledger has it, and
// the jobs say what they run for.
func TestScheduleFires(t *testing.T) {
	b := newBench(t)
	ticker, err := tick.New(b.store, tick.Options{Holder: "t"})
	if err != nil {
		t.Fatal(err)
	}
	tick := func(after time.Duration) {
		t.Helper()
		b.offset.Add(after.Microseconds())
		if _, err := ticker.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	const path = "/v1/schedules/s"
	b.do("PUT", path, `{"every":"1h","type":"work","missed":"once","expect_within":"1m","payload":{"x":1}}`).want(t, 201)
	next := decode[preview](t, b.do("GET", path+"/next?count=3", "").want(t, 200))
	if len(next.Items) != 3 {
		t.Fatalf("%+v", next)
	}
	tick(time.Hour + 5*time.Second)
	tick(3*time.Hour + 10*time.Minute)
	tick(time.Second) // alerts
	page := decode[struct {
		Items []struct {
			Outcome, To, Reason string
			ScheduledFor        string `json:"scheduled_for"`
			Count               int
			JobID               string `json:"job_id"`
		}
	}](t, b.do("GET", path+"/occurrences", "").want(t, 200))
	if n := len(page.Items); n != 3 || page.Items[2].Outcome != "fired" || page.Items[0].Outcome != "caught_up" || page.Items[1].Outcome != "covered" || page.Items[1].Count != 2 {
		t.Fatalf("%+v", page)
	}
	if first, _ := time.Parse(time.RFC3339, page.Items[2].ScheduledFor); first.Format("15:04:05.000000") != mustTime(t, next.Items[0].At).Format("15:04:05.000000") {
		t.Errorf("fired %s, next said %s", page.Items[2].ScheduledFor, next.Items[0].At)
	}
	late := b.do("GET", "/v1/jobs/"+page.Items[0].JobID, "").want(t, 200)
	if !strings.Contains(late.body, `"schedule":"s","scheduled_for":"`+page.Items[0].ScheduledFor+`","catch_up":true,"covers":3,"covers_from":"`+page.Items[1].ScheduledFor+`"`) {
		t.Errorf("%s", late.body)
	}
	only := decode[struct{ Items []any }](t, b.do("GET", path+"/occurrences?outcome=fired", "").want(t, 200))
	since := decode[struct{ Items []any }](t, b.do("GET", path+"/occurrences?from="+page.Items[0].ScheduledFor, "").want(t, 200))
	if len(only.Items) != 1 || len(since.Items) != 1 {
		t.Errorf("%d and %d rows", len(only.Items), len(since.Items))
	}
	alerts := b.do("GET", "/v1/alerts?open=true", "").want(t, 200)
	if !strings.Contains(alerts.body, `"kind":"schedule_missed","subject":"s"`) || strings.Count(alerts.body, `"id"`) != 1 {
		t.Errorf("%s", alerts.body)
	}
	paused := decode[shownSchedule](t, b.do("POST", path+"/pause", "").want(t, 200))
	if !paused.Paused || paused.NextDue != "" || paused.Version != 2 {
		t.Errorf("%+v", paused)
	}
	if again := b.do("POST", path+"/pause", "{}").want(t, 200); again.header.Get("ETag") != `"2"` {
		t.Error("a second pause is a change")
	}
	if s := decode[shownSchedule](t, b.do("POST", path+"/resume", "").want(t, 200)); s.Paused || s.NextDue == "" {
		t.Errorf("%+v", s)
	}
}

func mustTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestBackfill(t *testing.T) {
	b := newBench(t)
	b.do("PUT", "/v1/schedules/s", `{"cron":"@hourly","type":"work","priority":"bulk"}`).want(t, 201)
	type answer struct {
		Count, Made int
		JobIDs      []string `json:"job_ids"`
		NextFrom    string   `json:"next_from"`
	}
	const day = `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"`
	dry := decode[answer](t, b.do("POST", "/v1/schedules/s/backfill", day+`,"dry_run":true}`).want(t, 200))
	if dry.Count != 24 || dry.Made != 0 || dry.JobIDs == nil {
		t.Errorf("%+v", dry)
	}
	made := decode[answer](t, b.do("POST", "/v1/schedules/s/backfill", day+`}`).want(t, 200))
	if made.Count != 24 || made.Made != 24 || len(made.JobIDs) != 24 || made.NextFrom != "" {
		t.Fatalf("%+v", made)
	}
	first := b.do("GET", "/v1/jobs/"+made.JobIDs[0], "").want(t, 200)
	if !strings.Contains(first.body, `"scheduled_for":"2026-01-01T00:00:00.000000Z","catch_up":true`) || !strings.Contains(first.body, `"priority":"bulk"`) {
		t.Errorf("%s", first.body)
	}
	b.do("PUT", "/v1/schedules/fast", `{"every":"1s","type":"work"}`).want(t, 201)
	year := decode[answer](t, b.do("POST", "/v1/schedules/fast/backfill", `{"from":"2025-01-01T00:00:00Z","to":"2026-01-01T00:00:00Z","dry_run":true}`).want(t, 200))
	if year.Count != 365*86400 {
		t.Errorf("%+v", year)
	}
	for _, row := range [][2]string{{"", "from"}, {`{}`, "from"}, {`{"from":"2026-01-01T00:00:00Z"}`, "to"}, {`{"from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z"}`, "to"}, {`{"from":"2026-01-02T00:00:00Z","to":"2222-01-01T00:00:00Z"}`, "to"}, {day + `,"dry_run":1}`, "dry_run"}} {
		if got := b.do("POST", "/v1/schedules/s/backfill", row[0]).want(t, 422); !strings.Contains(got.body, `"field":"`+row[1]+`"`) {
			t.Errorf("%s: %s", row[0], got.body)
		}
	}
	b.do("POST", "/v1/schedules/nothing/backfill", day+`}`).want(t, 404)
	b.do("POST", "/v1/schedules/nothing/trigger", "").want(t, 404)
}

// Names are each tenant's own: two have a schedule of one name, and neither touches the other's.
func TestSchedulesOfTenants(t *testing.T) {
	b := newBench(t)
	admin := b.keep(core.Token{Role: core.RoleAdmin})
	acme, globex := b.keep(core.Token{Role: core.RoleAdmin, Tenant: "acme"}), b.keep(core.Token{Role: core.RoleAdmin, Tenant: "globex"})
	for i, token := range []string{acme, globex, admin} {
		b.as(token, "PUT", "/v1/schedules/s", `{"every":"`+strconv.Itoa(i+1)+`h","type":"work"}`).want(t, http.StatusCreated)
	}
	b.as(acme, "PUT", "/v1/schedules/s", `{"every":"1h","type":"work","tenant":"globex"}`).want(t, 422)
	for token, every := range map[string]string{acme: "1h0m0s", globex: "2h0m0s", admin: "3h0m0s"} {
		if got := decode[shownSchedule](t, b.as(token, "GET", "/v1/schedules/s", "").want(t, 200)); got.Every != every {
			t.Errorf("%+v, want every %s", got, every)
		}
	}
	if got := decode[shownSchedule](t, b.as(admin, "GET", "/v1/schedules/s?tenant=globex", "").want(t, 200)); got.Tenant != "globex" {
		t.Errorf("%+v", got)
	}
	b.as(acme, "GET", "/v1/schedules/s?tenant=globex", "").want(t, 404)
	b.as(acme, "DELETE", "/v1/schedules/s", "").want(t, 204)
	b.as(acme, "GET", "/v1/schedules/s", "").want(t, 404)
	b.as(globex, "GET", "/v1/schedules/s", "").want(t, 200)
	read := b.keep(core.Token{Role: core.RoleRead, Tenant: "globex"})
	b.as(read, "PUT", "/v1/schedules/s", `{"every":"1h","type":"work"}`).want(t, 403)
	b.as(read, "POST", "/v1/schedules/preview", `{"cron":"@daily"}`).want(t, 200)
}
