package api_test

import (
	"database/sql"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core/tick"
)

// write changes rows with a connection of its own, as somebody would by hand.
func (b *bench) write(statement string) {
	b.t.Helper()
	db, err := sql.Open("sqlite", "file:"+b.file+"?_pragma=busy_timeout(5000)")
	if err != nil {
		b.t.Fatal(err)
	}
	_, err = db.ExecContext(b.t.Context(), statement)
	if closed := db.Close(); err == nil {
		err = closed
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// A schedule whose stored definition cannot be read is shown invalid, with the reason, and the others beside it. Acts that
// need its rule are refused for that, whatever their own fields; a good definition replaces it and keeps its ledger.
func TestUnreadableSchedules(t *testing.T) {
	for _, c := range []struct {
		name, broken string
		reason       string
	}{
		{"a zone that is unknown", `json_set(rule, '$.time_zone', 'Mars/Olympus')`, `time_zone: `},
		{"an expression that is none", `json_set(rule, '$.cron', '61 * * * *')`, `cron: `},
		{"a policy that is none", `json_set(rule, '$.dst_gap', 'x')`, `dst_gap: `},
		{"another policy that is none", `json_set(rule, '$.missed', 'x')`, `missed: `},
		{"neither cron nor every", `json_remove(rule, '$.cron')`, ``},
		{"a definition that is none", `'"x"'`, `it is damaged`},
		{"no JSON", `'{"cron":'`, `it is damaged`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, delivering)
			const path, body = "/v1/schedules/s", `{"cron":"* * * * *","time_zone":"Europe/Berlin","dst_gap":"shift","type":"echo"}`
			b.do("PUT", path, body).want(t, 201)
			b.do("PUT", "/v1/schedules/other", body).want(t, 201)
			ticker, err := tick.New(b.store, tick.Options{Holder: "h"})
			if err != nil {
				t.Fatal(err)
			}
			pass := func(d time.Duration) {
				b.offset.Add(d.Microseconds())
				if _, err := ticker.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			pass(time.Minute)
			before := b.do("GET", path+"/occurrences", "").want(t, 200).body
			b.write("UPDATE schedules SET rule = " + c.broken + " WHERE name = 's'")
			pass(time.Minute)

			reason := `"invalid":"the stored definition cannot be read: ` + c.reason
			got := b.do("GET", path, "").want(t, 200)
			list := b.do("GET", "/v1/schedules", "").want(t, 200)
			if !strings.Contains(got.body, reason) || strings.Contains(got.body, `"next_due"`) || strings.Count(list.body, `"invalid"`) != 1 || strings.Count(list.body, `"next_due"`) != 1 {
				t.Errorf("%s\n%s", got.body, list.body)
			}
			for _, act := range [][2]string{{"GET", path + "/next"}, {"POST", path + "/resume"}, {"POST", path + "/backfill"}} {
				body := map[string]string{"POST": "{}"}[act[0]]
				if strings.HasSuffix(act[1], "backfill") {
					body = `{"from":"2026-03-01T00:00:00Z","to":"2026-03-02T00:00:00Z"}`
				}
				refused := b.do(act[0], act[1], body)
				if strings.HasSuffix(act[1], "resume") && c.reason != "it is damaged" {
					refused.want(t, 200) // it is not paused
					continue
				}
				if refused.want(t, http.StatusConflict); !strings.Contains(refused.body, "the stored definition cannot be read") || strings.Contains(refused.body, `"errors"`) {
					t.Errorf("%s %s: %s", act[0], act[1], refused.body)
				}
			}
			alerts := b.do("GET", "/v1/alerts?open=true", "").want(t, 200).body
			if strings.Count(alerts, `"kind":"schedule_unreadable"`) != 1 || !strings.Contains(alerts, c.reason) {
				t.Error(alerts)
			}
			if metrics := b.do("GET", "/metrics", "").want(t, 200).body; !strings.Contains(metrics, `belfry_open_alerts{kind="schedule_unreadable"} 1`) {
				t.Error("the metric does not count it")
			}

			plan := b.do("POST", path+"/plan", `{"cron":"30 * * * *","type":"echo"}`).want(t, 200)
			put := b.do("PUT", path, `{"cron":"30 * * * *","type":"echo"}`).want(t, 200)
			if strings.Contains(put.body, `"invalid"`) || !strings.Contains(put.body, `"next_due"`) || put.header.Get("ETag") != `"2"` || !strings.Contains(plan.body, `"action":"change"`) {
				t.Errorf("%s\n%s", plan.body, put.body)
			}
			if after := b.do("GET", path+"/occurrences", "").want(t, 200).body; after != before || strings.Count(after, `"outcome"`) != 1 {
				t.Errorf("the ledger was\n%s, and is\n%s", before, after)
			}
			if alerts := b.do("GET", "/v1/alerts?open=true", "").want(t, 200).body; strings.Contains(alerts, "schedule_unreadable") {
				t.Error(alerts)
			}
		})
	}
}
