package api_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/functions/api"
)

type page struct {
	Items      []job  `json:"items"`
	NextCursor string `json:"next_cursor"`
}

// walk reads a list to its end and returns the types of its jobs, and the number of pages.
func (b *bench) walk(query string) (types string, pages int) {
	b.t.Helper()
	var got []string
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		target := "/v1/jobs?" + query
		if cursor != "" {
			target += "&cursor=" + cursor
		}
		p := decode[page](b.t, b.do("GET", target, "").want(b.t, http.StatusOK))
		for _, j := range p.Items {
			got = append(got, j.Type)
		}
		cursor = p.NextCursor
	}
	return strings.Join(got, " "), pages
}

func TestListFilters(t *testing.T) {
	b := newBench(t)
	for _, body := range []string{
		`{"type":"a","tenant":"x","run_at":"2030-01-01T00:00:00Z","tags":["red","big"]}`,
		`{"type":"b","priority":"critical","run_at":"2031-01-01T00:00:00Z","tags":["red"]}`,
		`{"type":"c","priority":"bulk","run_at":"2032-01-01T00:00:00Z"}`,
		`{"type":"d","tenant":"x","run_at":"2033-01-01T00:00:00Z"}`,
		`{"type":"e"}`,
		`{"type":"f"}`,
	} {
		b.submit(body)
	}
	b.claim("e")
	b.end("f", 1, `{"ok":1}`)
	for query, want := range map[string]string{
		"":                                "f e d c b a",
		"type=b":                          "b",
		"type=nobody":                     "",
		"tenant=x":                        "d a",
		"tenant=":                         "f e c b",
		"priority=critical":               "b",
		"tag=red":                         "b a",
		"tag=big&tenant=x":                "a",
		"status=running":                  "e",
		"status=done&status=running":      "f e",
		"status=scheduled":                "d c b a",
		"status=cancelled":                "",
		"run_after=2031-01-01T00:00:00Z":  "d c b",
		"run_before=2031-01-01T00:00:00Z": "f e a",
		"run_after=2030-12-31T23:59:59.999999Z&run_before=2032-01-01T01:00:00%2B01:00": "b",
	} {
		if got, _ := b.walk(query); got != want {
			t.Errorf("?%s lists %q, want %q", query, got, want)
		}
		if got, _ := b.walk(query + "&limit=1"); got != want {
			t.Errorf("?%s lists %q one by one, want %q", query, got, want)
		}
	}
}

func TestListPages(t *testing.T) {
	b := newBench(t)
	var want []string
	var body strings.Builder
	for i := range 250 {
		fmt.Fprintf(&body, `,{"type":"t%d","delay":"1h"}`, i)
		want = append([]string{fmt.Sprint("t", i)}, want...)
	}
	b.do("POST", "/v1/jobs/batch", `{"jobs":[`+body.String()[1:]+`]}`).want(t, http.StatusOK)
	for query, pages := range map[string]int{"": 6, "limit=249": 2, "limit=250": 2, "limit=251": 1, "limit=1000": 1, "limit=120": 3} {
		got, n := b.walk(query)
		if got != strings.Join(want, " ") || n != pages {
			t.Errorf("?%s: %d pages, want %d; %d bytes of types, want %d", query, n, pages, len(got), len(strings.Join(want, " ")))
		}
	}
	// A job that comes in between moves no page.
	first := decode[page](t, b.do("GET", "/v1/jobs?limit=10", ""))
	b.submit(`{"type":"late"}`)
	second := decode[page](t, b.do("GET", "/v1/jobs?limit=10&cursor="+first.NextCursor, ""))
	if second.Items[0].Type != "t239" {
		t.Errorf("the second page begins with %s", second.Items[0].Type)
	}
}

// A page of large payloads ends early, and the next goes on where it ended.
func TestListPageBytes(t *testing.T) {
	b := newBench(t, func(o *api.Options) { o.Limits.PageBytes = 5000 })
	for i := range 7 {
		b.submit(fmt.Sprintf(`{"type":"t%d","payload":"%s"}`, i, strings.Repeat("x", 2000)))
	}
	if got, pages := b.walk(""); got != "t6 t5 t4 t3 t2 t1 t0" || pages != 3 {
		t.Errorf("%d pages of %s", pages, got)
	}
}

// A cursor belongs to its filters.
func TestCursor(t *testing.T) {
	b := newBench(t)
	for range 3 {
		b.submit(`{"type":"a","tenant":"x"}`)
	}
	cursor := decode[page](t, b.do("GET", "/v1/jobs?type=a&limit=1", "")).NextCursor
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	raw[7]++
	for query, status := range map[string]int{
		"/v1/jobs?type=a&cursor=" + cursor:                                       200,
		"/v1/jobs?type=a&limit=7&cursor=" + cursor:                               200,
		"/v1/jobs?cursor=" + cursor + "&type=a":                                  200,
		"/v1/jobs?cursor=" + cursor:                                              422,
		"/v1/jobs?type=b&cursor=" + cursor:                                       422,
		"/v1/jobs?type=a&tenant=x&cursor=" + cursor:                              422,
		"/v1/dead-letters?type=a&cursor=" + cursor:                               422,
		"/v1/jobs?type=a&cursor=" + cursor + "A":                                 422,
		"/v1/jobs?type=a&cursor=" + cursor[1:]:                                   422,
		"/v1/jobs?type=a&cursor=" + base64.RawURLEncoding.EncodeToString(raw):    422,
		"/v1/jobs?type=a&cursor=" + url.QueryEscape(cursor[:len(cursor)-1]+"\n"): 422,
	} {
		b.do("GET", query, "").want(t, status)
	}
}

func TestUnknownParameterIsNamedBesideTheKnown(t *testing.T) {
	b := newBench(t)
	for target, want := range map[string]string{
		"/v1/stats?since=1h": "since: is not a parameter of this call; there are none",
		"/v1/jobs/1?w=1s":    "w: is not a parameter of this call; the parameters are wait",
	} {
		if got := b.do("GET", target, "").want(t, http.StatusUnprocessableEntity).body; !strings.Contains(got, `"`+want+`"`) {
			t.Errorf("%s: want %q in %s", target, want, got)
		}
	}
}
