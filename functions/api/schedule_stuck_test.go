package api_test

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core/tick"
)

// A schedule whose row somebody changed so that it never comes due is shown invalid, with the reason, and the others beside it
// are not. Its own definition, put again, lets it come due again, and so does another.
func TestSchedulesThatNeverComeDue(t *testing.T) {
	const path, same, other = "/v1/schedules/s", `{"cron":"* * * * *","type":"echo"}`, `{"every":"1m","type":"echo"}`
	far := strconv.FormatInt(time.Date(20231, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), 10)
	for _, c := range []struct{ name, set, reason string }{
		{"next_due at the end of times", "next_due = " + strconv.FormatInt(math.MaxInt64, 10), "its next_due lies beyond the year 9999, so it never comes due"},
		{"next_due in the year 20231", "next_due = " + far, "its next_due lies beyond the year 9999, so it never comes due"},
		{"no next_due", "next_due = NULL", "it has no next_due though its rule goes on, so it never comes due"},
		{"accounted in the year 20231", "accounted = " + far, "its accounted_to lies beyond the year 9999, so all its runs count as made"},
		{"all of it", "next_due = NULL, accounted = " + far, "its accounted_to lies beyond the year 9999, so all its runs count as made"},
	} {
		for _, put := range []string{same, other} {
			t.Run(c.name+" "+put, func(t *testing.T) {
				b := newBench(t)
				b.do("PUT", path, same).want(t, 201)
				b.do("PUT", "/v1/schedules/paused", `{"cron":"* * * * *","type":"echo","paused":true}`).want(t, 201)
				b.do("PUT", "/v1/schedules/ended", `{"cron":"* * * * *","type":"echo","starts_at":"2020-01-01T00:00:00Z","ends_at":"2020-01-02T00:00:00Z"}`).want(t, 201)
				b.write("UPDATE schedules SET " + c.set + " WHERE name = 's'")

				shown := `"invalid":"` + c.reason
				got, list := b.do("GET", path, "").want(t, 200).body, b.do("GET", "/v1/schedules", "").want(t, 200).body
				if !strings.Contains(got, shown) || strings.Count(list, shown) != 1 || strings.Count(list, `"invalid"`) != 1 {
					t.Errorf("%s\n%s", got, list)
				}
				if plan := b.do("POST", path+"/plan", put).want(t, 200).body; !strings.Contains(plan, `"next_due"]`) && !strings.Contains(plan, `"next_due",`) {
					t.Error(plan)
				}
				mended := b.do("PUT", path, put).want(t, 200).body
				if strings.Contains(mended, `"invalid"`) || strings.Contains(mended, `"out_of_range"`) || !strings.Contains(mended, `"next_due"`) {
					t.Error(mended)
				}
				ticker, err := tick.New(b.store, tick.Options{Holder: "h"})
				if err != nil {
					t.Fatal(err)
				}
				b.offset.Add((90 * time.Second).Microseconds())
				if _, err := ticker.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
				if runs := b.do("GET", "/v1/jobs?schedule=s", "").want(t, 200).body; !strings.Contains(runs, `"type":"echo"`) {
					t.Errorf("it made no run: %s", runs)
				}
			})
		}
	}
}

// The same on PostgreSQL, whose times have an infinity.
func TestSchedulesThatAreDueAtInfinity(t *testing.T) {
	b, conn := newPostgresBench(t)
	b.do("PUT", "/v1/schedules/s", `{"cron":"@daily","type":"echo"}`).want(t, 201)
	for set, reason := range map[string]string{"next_due": "its next_due lies beyond", "accounted": "its accounted_to lies beyond"} {
		if _, err := conn.Exec(t.Context(), "UPDATE belfry.schedules SET "+set+" = 'infinity'"); err != nil {
			t.Fatal(err)
		}
		if got := b.do("GET", "/v1/schedules/s", "").want(t, 200).body; !strings.Contains(got, `"invalid":"`+reason) || !strings.Contains(got, `:"infinity"}`) {
			t.Error(got)
		}
		if got := b.do("PUT", "/v1/schedules/s", `{"cron":"@daily","type":"echo"}`).want(t, 200).body; strings.Contains(got, `"invalid"`) || !strings.Contains(got, `"next_due"`) {
			t.Error(got)
		}
	}
}
