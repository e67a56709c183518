package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// shownSchedule is the part of a schedule's document that tests look at.
type shownSchedule struct {
	Name, Tenant, Cron, Every, Missed, Overlap, Description string
	Version                                                 int64
	Paused                                                  bool
	NextDue                                                 string `json:"next_due"`
}

func TestSchedules(t *testing.T) {
	b := newBench(t, delivering)
	const path = "/v1/schedules/nightly"
	b.do("GET", path, "").want(t, http.StatusNotFound)
	b.do("DELETE", path, "").want(t, http.StatusNotFound)
	made := b.do("PUT", path, `{"cron":"30 2 * * *","time_zone":"Europe/Berlin","type":"report","payload":{"a":1.50},"target":{"url":"https://hooks.example.com/x","headers":{"authorization":"Bearer canary"}},"tags":["x"]}`).want(t, http.StatusCreated)
	s := decode[shownSchedule](t, made)
	if s.Name != "nightly" || s.Version != 1 || s.Missed != "once" || s.Overlap != "allow" || s.Description != "At 02:30 every day, Europe/Berlin" || s.NextDue == "" {
		t.Errorf("%+v", s)
	}
	if made.header.Get("ETag") != `"1"` || !strings.Contains(made.body, `"payload":{"a":1.50}`) || strings.Contains(made.body, "canary") {
		t.Errorf("%v %s", made.header, made.body)
	}
	again := b.do("PUT", path, `{"type":"report","tags":["x"],"payload":{"a":1.50},"missed":"once","overlap":"allow","cron":"30 2 * * *","time_zone":"Europe/Berlin","target":{"url":"https://hooks.example.com/x","headers":{"authorization":"Bearer canary"}}}`).want(t, http.StatusOK)
	if again.body != made.body {
		t.Errorf("the same again answers\n%s\nat first\n%s", again.body, made.body)
	}
	if got := b.do("GET", path, "").want(t, http.StatusOK); got.body != made.body || got.header.Get("ETag") != `"1"` {
		t.Errorf("GET %v %s", got.header, got.body)
	}
	changed := b.do("PUT", path, `{"every":"90s","type":"report"}`).want(t, http.StatusOK)
	if s := decode[shownSchedule](t, changed); s.Version != 2 || s.Every != "1m30s" || s.Cron != "" || changed.header.Get("ETag") != `"2"` {
		t.Errorf("changed: %s", changed.body)
	}
	b.do("DELETE", path, "").want(t, http.StatusNoContent)
	b.do("GET", path, "").want(t, http.StatusNotFound)
}

// What If-Match and If-None-Match ask for is held; a version that is not there any more is 412.
func TestSchedulePreconditions(t *testing.T) {
	b := newBench(t)
	const path, body = "/v1/schedules/s", `{"cron":"@daily","type":"echo"}`
	put := func(status int, body string, header ...string) {
		t.Helper()
		b.do("PUT", path, body, header...).want(t, status)
	}
	put(412, body, "If-Match", `"1"`)
	put(412, body, "If-Match", "*")
	put(201, body, "If-None-Match", "*")
	put(412, body, "If-None-Match", "*")
	put(412, body, "If-Match", `"2"`)
	put(200, body, "If-Match", `"1"`)
	put(200, `{"cron":"@hourly","type":"echo"}`, "If-Match", "*")
	put(412, body, "If-Match", `"1"`)
	for _, bad := range []string{"1", `W/"1`, `"1" "2"`, `w/"1"`, `"1",3`, `*, "2"`, `,`, `"a"b"`, ""} {
		put(422, body, "If-Match", bad)
		put(422, body, "If-None-Match", bad)
		b.do("DELETE", path, "", "If-Match", bad).want(t, 422)
	}
	b.do("DELETE", path, "", "If-Match", `"1"`).want(t, 412)
	b.do("DELETE", path, "", "If-None-Match", `*`).want(t, 412)
	b.do("DELETE", path, "", "If-Match", `"2"`).want(t, 204)
	b.do("DELETE", path, "", "If-Match", `"2"`).want(t, 404)
	b.do("DELETE", path, "", "If-Match", `*`).want(t, 404)
}

// By RFC 9110: If-Match is compared strongly, If-None-Match weakly, a list is true where one of it is, and a tag that this
// server never gave is one like any other.
func TestScheduleConditionsAreLists(t *testing.T) {
	b := newBench(t)
	version := 0
	bodies := [2]string{`{"cron":"@daily","type":"echo"}`, `{"cron":"@hourly","type":"echo"}`}
	put := func(match, none string, status int) {
		t.Helper()
		var header []string
		for name, value := range map[string]string{"If-Match": match, "If-None-Match": none} {
			if value = strings.ReplaceAll(value, "N", strconv.Itoa(version)); value != "" {
				header = append(header, name, value)
			}
		}
		if a := b.do("PUT", "/v1/schedules/s", bodies[version%2], header...).want(t, status); a.status < 300 {
			version++
		}
	}
	put(`"1", "2"`, "", 412)
	put("", `"1", "2"`, 201) // there is none: not one of these
	for _, true_ := range []string{`"N"`, `"N", "99"`, `"99","N"`, `"99" ,, W/"N", "N"`, `"x", "N"`, `*`, `"","N"`, "\t\"N\"\t,"} {
		put(true_, "", 200)
		put("", strings.ReplaceAll(strings.ReplaceAll(true_, "N", "98"), "*", `"98"`), 200)
	}
	for _, false_ := range []string{`W/"N"`, `W/"N", "99"`, `"99"`, `"0N"`, `"x"`, `""`, `"-N"`, `"N!"`} {
		put(false_, "", 412)
	}
	for _, false_ := range []string{`W/"N"`, `"N"`, `"99", "N"`, `*`, `W/"99", W/"N"`} {
		put("", false_, 412)
	}
	put(`"N"`, `"99"`, 200)
	put(`"N"`, `"N"`, 412)
	put(`"99"`, `"98"`, 412)
	b.do("DELETE", "/v1/schedules/s", "", "If-Match", fmt.Sprintf(`W/"%d"`, version)).want(t, 412)
	b.do("DELETE", "/v1/schedules/s", "", "If-Match", fmt.Sprintf(`"99", "%d"`, version)).want(t, 204)
}

// Names are free text: what a path cannot hold is encoded, and means nothing to the path.
func TestScheduleNamesInPaths(t *testing.T) {
	b := newBench(t)
	names := []string{"a/b", "a//b", "/a/", "a/./b", "a/../b", "...", "100%", "%2F", "a b", "队列", "😀 nightly", `a"b`, "a'b", "a<b", "a?x=1", "a#b", `a\b`, "a;b", "pause", "{}", strings.Repeat("n", schedule.MaxScheduleNameBytes)}
	for _, name := range names {
		path := "/v1/schedules/" + url.PathEscape(name)
		b.do("PUT", path, `{"cron":"@daily","type":"echo"}`).want(t, http.StatusCreated)
		if got := decode[shownSchedule](t, b.do("GET", path, "").want(t, 200)); got.Name != name {
			t.Errorf("%s: %q", path, got.Name)
		}
		run := decode[struct{ Schedule string }](t, b.do("POST", path+"/trigger", "").want(t, http.StatusCreated))
		if run.Schedule != name {
			t.Errorf("%s: the run is of %q", path, run.Schedule)
		}
		list := decode[struct{ Items []struct{ Schedule string } }](t, b.do("GET", "/v1/jobs?schedule="+url.QueryEscape(name), "").want(t, 200))
		if len(list.Items) != 1 || list.Items[0].Schedule != name {
			t.Errorf("jobs of %q: %+v", name, list.Items)
		}
		for _, call := range []string{"GET /occurrences", "GET /next", "POST /pause", "POST /resume"} {
			method, rest, _ := strings.Cut(call, " ")
			b.do(method, path+rest, "").want(t, 200)
		}
	}
	b.do("GET", "/v1/schedules/..", "").want(t, 404) // no name, another path
	b.do("GET", "/v1/schedules//x", "").want(t, 404)
	b.do("PUT", "/v1/schedules/preview", `{"cron":"@daily","type":"echo"}`).want(t, 405) // a call of its own
	for _, dots := range []string{"%2E", "%2E%2E"} {
		if got := b.raw("PUT", "/v1/schedules/"+dots, `{"cron":"@daily","type":"echo"}`, "Content-Type", "application/json"); got.Code != 422 || !strings.Contains(got.Body.String(), `"field":"name"`) {
			t.Errorf("%s: %d %s", dots, got.Code, got.Body)
		}
	}
	for _, hostile := range []string{"a\x00b", "a\nb", "\x1b[31m", "\u2028", strings.Repeat("n", schedule.MaxScheduleNameBytes+1), "a\xff"} {
		for method, body := range map[string]string{"PUT": `{"cron":"@daily","type":"echo"}`, "GET": "", "DELETE": ""} {
			b.do(method, "/v1/schedules/"+url.PathEscape(hostile), body).want(t, 422)
		}
	}
	page := decode[struct{ Items []shownSchedule }](t, b.do("GET", "/v1/schedules?limit=1000", "").want(t, 200))
	if len(page.Items) != len(names) {
		t.Errorf("%d schedules, want %d", len(page.Items), len(names))
	}
}

func TestBadSchedules(t *testing.T) {
	b := newBench(t, delivering)
	for _, row := range []struct{ body, field string }{
		{`{"type":"a"}`, "cron"}, {`{"cron":"@daily","every":"1h","type":"a"}`, "every"}, {`{"cron":"@daily"}`, "type"}, {`{"cron":"","type":"a"}`, "cron"},
		{`{"cron":"0 0 30 2 *","type":"a"}`, "cron"}, {`{"cron":"* * * *","type":"a"}`, "cron"}, {`{"cron":"TZ=UTC","type":"a"}`, "cron"}, {`{"cron":"*/0 * * * *","type":"a"}`, "cron"},
		{`{"cron":"60 * * * *","type":"a"}`, "cron"}, {`{"cron":"* * * * *\u0000","type":"a"}`, "cron"}, {`{"cron":"😀","type":"a"}`, "cron"}, {`{"cron":"` + strings.Repeat("*", 2000) + `","type":"a"}`, "cron"},
		{`{"cron":"@daily","time_zone":"Mars/Olympus","type":"a"}`, "time_zone"}, {`{"cron":"@daily","time_zone":"../../etc/passwd","type":"a"}`, "time_zone"},
		{`{"every":"1ms","type":"a"}`, "every"}, {`{"every":"0s","type":"a"}`, "every"}, {`{"every":"-1h","type":"a"}`, "every"}, {`{"every":"1h","time_zone":"Europe/Berlin","type":"a"}`, "time_zone"},
		{`{"cron":"@daily","type":"a","missed":"maybe"}`, "missed"}, {`{"cron":"@daily","type":"a","missed_limit":0}`, "missed_limit"}, {`{"cron":"@daily","type":"a","expect_within":"999ms"}`, "expect_within"}, {`{"cron":"@daily","type":"a","missed_window":"-1s"}`, "missed_window"},
		{`{"cron":"@daily","type":"a","overlap":"kill"}`, "overlap"}, {`{"cron":"@daily","type":"a","jitter":"25h"}`, "jitter"}, {`{"cron":"@daily","type":"a","dst_gap":"x"}`, "dst_gap"},
		{`{"cron":"@daily","type":"a","expect_paused":true}`, "expect_paused"}, {`{"cron":"@daily","type":"a","starts_at":"tomorrow"}`, "starts_at"},
		{`{"cron":"@daily","type":"a","starts_at":"2030-01-02T00:00:00Z","ends_at":"2030-01-01T00:00:00Z"}`, "ends_at"}, {`{"cron":"@daily","type":"a","backoff":[]}`, "backoff"},
		{`{"cron":"@daily","type":"a","backoff":["1ns"]}`, "backoff[0]"}, {`{"cron":"@daily","type":"a","jitter":"20ns"}`, "jitter"}, {`{"cron":"@daily","type":"a","missed_window":"0.1ns"}`, "missed_window"},
		{`{"cron":"@daily","type":"a","target":{"url":"http://169.254.169.254/"}}`, "target.url"}, {`{"cron":"@daily","type":"a","colour":1}`, "colour"}, {`{"cron":"@daily","cron":"@daily","type":"a"}`, "cron"},
		{`{"cron":"@daily","type":"a","name":"x"}`, "name"}, {`{"cron":"@daily","type":"a","tags":[""]}`, "tags[0]"}, {`{"cron":"@daily","type":"a","paused":1}`, "paused"},
	} {
		got := b.do("PUT", "/v1/schedules/s", row.body).want(t, 422)
		if p := decode[problem.Problem](t, got); len(p.Errors) == 0 || p.Errors[0].Field != row.field {
			t.Errorf("%s: %s, want the field %s", row.body, got.body, row.field)
		}
	}
	b.do("GET", "/v1/schedules/s", "").want(t, 404)
}

// Hostile expressions are answered with a problem that names the field, by put and by preview alike.
func TestHostileExpressions(t *testing.T) {
	b := newBench(t)
	for i, text := range append(hostileTexts, "* * * * * * *", "@every", "@every 0s", "@reboot", "L L L L L", "0 0 31 2,4,6,9,11 *", "59-0/61 * * * *", "* * * * MON#6", strings.Repeat("1,", 499)+"1 * * * *") {
		body := `{"cron":` + string(marshal(t, text))
		for method, path := range map[string]string{"PUT": fmt.Sprintf("/v1/schedules/h%d", i), "POST": "/v1/schedules/preview"} {
			more := ""
			if method == "PUT" {
				more = `,"type":"a"`
			}
			got := b.do(method, path, body+more+"}")
			if got.status == 200 || got.status == 201 {
				if !strings.HasPrefix(text, "59-0") && !strings.HasPrefix(text, "1,") {
					t.Errorf("%s %q was accepted: %s", method, text, got.body)
				}
				continue
			}
			if p := decode[problem.Problem](t, got.want(t, 422)); len(p.Errors) == 0 || p.Errors[0].Field != "cron" {
				t.Errorf("%s %q: %s", method, text, got.body)
			}
		}
	}
}

func TestListSchedulesPages(t *testing.T) {
	b := newBench(t)
	for i := range 7 {
		b.do("PUT", fmt.Sprintf("/v1/schedules/s%d", i), fmt.Sprintf(`{"cron":"@daily","type":"t%d","paused":%t,"payload":"%s"}`, i%2, i == 3, strings.Repeat("x", 1000))).want(t, 201)
	}
	type page struct {
		Items []shownSchedule
		Next  string `json:"next_cursor"`
	}
	names := func(query string) (all []string, pages int) {
		for cursor := ""; ; pages++ {
			p := decode[page](t, b.do("GET", "/v1/schedules?"+query+cursor, "").want(t, 200))
			for _, s := range p.Items {
				all = append(all, s.Name)
			}
			if p.Next == "" {
				return all, pages + 1
			}
			cursor = "&cursor=" + p.Next
		}
	}
	for query, want := range map[string]string{"limit=3": "s0 s1 s2 s3 s4 s5 s6", "limit=2&type=t1": "s1 s3 s5", "paused=true": "s3", "paused=false&limit=4": "s0 s1 s2 s4 s5 s6", "tenant=x": ""} {
		if got, _ := names(query); strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	small := newBench(t, func(o *api.Options) { o.Limits.PageBytes = 2500 })
	for i := range 7 {
		small.do("PUT", fmt.Sprintf("/v1/schedules/s%d", i), `{"cron":"@daily","type":"t","payload":"`+strings.Repeat("x", 1000)+`"}`).want(t, 201)
	}
	b = small
	if got, pages := names("limit=100"); len(got) != 7 || pages < 3 {
		t.Errorf("%v in %d pages", got, pages)
	}
}
