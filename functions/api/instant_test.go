package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// Times that SQL has stored and RFC 3339 has no form for are shown as what they are, in every field of a job and of a schedule;
// the others are listed beside, and every reader of dates reads all of it.
func TestTimesOutOfRange(t *testing.T) {
	far := time.Date(20231, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	// The ends are what SQLite keeps; PostgreSQL's infinity is told below.
	values := map[string]int64{"294247-01-10T04:00:54.775807Z": math.MaxInt64, "-290308-12-21T19:59:05.224193Z": -math.MaxInt64, "20231-01-01T00:00:00.000000Z": far}
	ends := map[string]string{"294247-01-10T04:00:54.775807Z": "9999-12-31T23:59:59.999999Z", "-290308-12-21T19:59:05.224193Z": "0000-01-01T00:00:00.000000Z", "20231-01-01T00:00:00.000000Z": "9999-12-31T23:59:59.999999Z"}
	columns := map[string]string{"run_at": "run_at", "expires_at": "expires_at", "created_at": "created_at", "started_at": "started_at", "scheduled_for": "schedule = 's', scheduled_for", "lease_until": "status = 3, lease_until"}
	for text, value := range values {
		for field, column := range columns {
			if field == "created_at" && value < 0 {
				continue
			}
			t.Run(field+" "+text, func(t *testing.T) {
				b := newBench(t)
				b.do("POST", "/v1/jobs", `{"type":"a","delay":"1h"}`).want(t, 201)
				b.do("POST", "/v1/jobs", `{"type":"a","delay":"1h"}`).want(t, 201)
				b.write(fmt.Sprintf("UPDATE jobs SET %s = %d WHERE id = 1", column, value))
				shown := fmt.Sprintf(`"out_of_range":{%q:%q}`, field, text)
				got := b.do("GET", "/v1/jobs/1", "").want(t, 200).body
				list := b.do("GET", "/v1/jobs", "").want(t, 200).body
				if !strings.Contains(got, shown) || !strings.Contains(got, fmt.Sprintf(`%q:%q`, field, ends[text])) || strings.Count(list, `"out_of_range"`) != 1 {
					t.Errorf("%s\n%s", got, list)
				}
				var page struct{ Items []client.Job }
				if err := json.Unmarshal([]byte(list), &page); err != nil || len(page.Items) != 2 || page.Items[1].OutOfRange[field] != text || page.Items[0].OutOfRange != nil {
					t.Errorf("%v, %+v", err, page)
				}
			})
		}
		for field, column := range map[string]string{"next_due": "next_due", "accounted_to": "accounted", "expect_by": "expect_by", "paused_at": "paused_at", "created_at": "created_at", "updated_at": "updated_at"} {
			t.Run("schedule "+field+" "+text, func(t *testing.T) {
				b := newBench(t)
				b.do("PUT", "/v1/schedules/s", `{"cron":"@daily","type":"a"}`).want(t, 201)
				b.do("PUT", "/v1/schedules/t", `{"cron":"@daily","type":"a"}`).want(t, 201)
				b.write(fmt.Sprintf("UPDATE schedules SET %s = %d WHERE name = 's'", column, value))
				list := b.do("GET", "/v1/schedules", "").want(t, 200).body
				if strings.Count(list, fmt.Sprintf(`"out_of_range":{%q:%q}`, field, text)) != 1 {
					t.Error(list)
				}
				var page struct{ Items []client.Schedule }
				if err := json.Unmarshal([]byte(list), &page); err != nil || len(page.Items) != 2 {
					t.Errorf("%v, %+v", err, page)
				}
			})
		}
	}
}

// newPostgresBench is newBench on PostgreSQL, and somebody's session there.
func newPostgresBench(t *testing.T) (*bench, *pgx.Conn) {
	t.Helper()
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	b := newBench(t, func(o *api.Options) {
		o.Jobs, o.Stats, o.Ledger, o.Schedules = store, store, store, schedule.NewActs(store, schedule.Options{}, nil)
		o.Submitter = submit.New(store, submit.Options{})
	})
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return b, conn
}

// The same on PostgreSQL, whose times have an infinity.
func TestInfiniteTimes(t *testing.T) {
	b, conn := newPostgresBench(t)
	b.do("POST", "/v1/jobs", `{"type":"sound","delay":"1h"}`).want(t, 201)
	for _, text := range []string{"infinity", "-infinity", "20231-01-01T00:00:00.000000Z"} {
		for field, column := range map[string]string{"run_at": "run_at", "expires_at": "expires_at", "created_at": "created_at", "started_at": "started_at", "scheduled_for": "schedule = 's', scheduled_for", "lease_until": "status = 3, lease_until"} {
			if text == "-infinity" && field != "run_at" && field != "created_at" {
				continue // it is the same as none
			}
			id := decode[struct{ ID string }](t, b.do("POST", "/v1/jobs", `{"type":"a","delay":"1h"}`).want(t, 201)).ID
			if _, err := conn.Exec(t.Context(), fmt.Sprintf("UPDATE belfry.jobs SET %s = '%s' WHERE id = %s", column, text, id)); err != nil {
				t.Fatal(err)
			}
			if got := b.do("GET", "/v1/jobs/"+id, "").want(t, 200).body; !strings.Contains(got, fmt.Sprintf(`"out_of_range":{%q:%q}`, field, text)) {
				t.Errorf("%s %s: %s", field, text, got)
			}
		}
	}
	list := b.do("GET", "/v1/jobs", "").want(t, 200).body
	var page struct{ Items []client.Job }
	if err := json.Unmarshal([]byte(list), &page); err != nil || len(page.Items) != 15 || strings.Count(list, `"out_of_range"`) != 14 {
		t.Errorf("%v: %d jobs, %s", err, len(page.Items), list)
	}
}
