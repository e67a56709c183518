package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
)

// deadLetters are bad requests to the calls about dead letters.
func deadLetters() []bad {
	const list, groups, redrive = "/v1/dead-letters", "/v1/dead-letters/groups", "/v1/dead-letters/redrive"
	rows := []bad{
		{"groups unknown", "GET", groups + "?cursor=x", "", 422, "cursor", nil},
		{"groups limit 0", "GET", groups + "?limit=0", "", 422, "limit", nil},
		{"groups limit 1001", "GET", groups + "?limit=1001", "", 422, "limit", nil},
		{"groups limit huge", "GET", groups + "?limit=99999999999999999999", "", 422, "limit", nil},
		{"groups method", "POST", groups, "", 405, "", nil},
		{"discard dry_run a word", "DELETE", list + "?all=true&dry_run=yes", "", 422, "dry_run", nil},
		{"discard dry_run twice", "DELETE", list + "?all=true&dry_run=true&dry_run=true", "", 422, "dry_run", nil},
		{"discard dry_run alone", "DELETE", list + "?dry_run=true", "", 422, "all", nil},
		{"discard limit huge", "DELETE", list + "?all=true&limit=9223372036854775808", "", 422, "limit", nil},
		{"discard limit negative", "DELETE", list + "?all=true&limit=-1", "", 422, "limit", nil},
		{"dead letters cursor made up", "GET", list + "?cursor=AAAAAAAAAAEAAAAAAAAAAA", "", 422, "cursor", nil},
		{"dead letters cursor long", "GET", list + "?cursor=" + strings.Repeat("A", 4000), "", 422, "cursor", nil},
		{"dead letters cursor NUL", "GET", list + "?cursor=%00", "", 422, "cursor", nil},
	}
	for name, value := range map[string]string{
		"empty": "", "short": "0123456789abcde", "long": "0123456789abcdef0", "capitals": "0123456789ABCDEF", "no hex": "0123456789abcdeg",
		"newline": "0123456789abcdef%0A", "NUL": "%00123456789abcde", "very long": strings.Repeat("a", 5000), "SQL": "'%20OR%201=1--",
	} {
		for _, target := range []string{list, groups} {
			rows = append(rows, bad{"group " + name, "GET", target + "?error_group=" + value, "", 422, "error_group", nil})
		}
		rows = append(rows, bad{"discard group " + name, "DELETE", list + "?error_group=" + value, "", 422, "error_group", nil})
	}
	for name, value := range map[string]string{"a word": "now", "year 10000": "10000-01-01T00:00:00Z", "empty": "", "NUL": "%00", "a number": "1767225600"} {
		for _, target := range []string{list, groups} {
			rows = append(rows, bad{"failed_before " + name, "GET", target + "?failed_before=" + value, "", 422, "failed_before", nil})
		}
	}
	for _, member := range []struct{ field, values string }{
		{"rate", `0|-1|-0.5|0.0009|1000001|1e300|99999999999999999999999999|"5"|""|null|true|[1]|{}`},
		{"from", `"now"|""|5|null|"10000-01-01T00:00:00Z"|"2026-01-01"|"9999-12-31T23:59:59Z"`},
		{"failed_before", `"now"|""|5|null|"20231-01-01T00:00:00Z"`},
		{"error_group", `""|"x"|5|null|"0123456789ABCDEF"|"0123456789abcdef\n"|"\u0000"|"\ud800"|["0123456789abcdef"]`},
		{"after", `""|"0"|"-1"|"01"|5|null|"9223372036854775808"|"\u0000"|"1 "`},
		{"limit", `0|-1|10001|1.5|"5"|null|1e300`},
		{"dry_run", `"true"|1|null|[]`},
		{"tenant", `5|null|"a\nb"|"\u0000"|"` + strings.Repeat("t", 256) + `"`},
		{"type", `5|null|""|"a\nb"|"` + strings.Repeat("t", 201) + `"`},
		{"ids", `5|null|[]|"1"`},
	} {
		for value := range strings.SplitSeq(member.values, "|") {
			rows = append(rows, bad{"redrive " + member.field + " " + value, "POST", redrive, fmt.Sprintf(`{"all":true,%q:%s}`, member.field, value), 422, member.field, nil})
		}
	}
	for _, alone := range []string{`"rate":5`, `"from":"2026-01-01T00:00:00Z"`, `"after":"5"`, `"dry_run":true`} {
		rows = append(rows, bad{"redrive only " + alone, "POST", redrive, `{` + alone + `}`, 422, "all", nil})
	}
	return rows
}

type redriven struct {
	Redriven  int       `json:"redriven"`
	Conflicts []any     `json:"conflicts"`
	Remaining int       `json:"remaining"`
	Capped    bool      `json:"capped"`
	DryRun    bool      `json:"dry_run"`
	After     string    `json:"after"`
	Next      time.Time `json:"next_run_at"`
}

type deadGroup struct {
	Count int    `json:"count"`
	Type  string `json:"type"`
	Group string `json:"error_group"`
	Error string `json:"error"`
	First string `json:"first_failed_at"`
	Last  string `json:"last_failed_at"`
}

type deadGroups struct {
	Items  []deadGroup `json:"items"`
	Capped bool        `json:"capped"`
}

// bury makes n dead letters of a type and answers their ids.
func (b *bench) bury(n int, typ, said string, more ...string) (ids []string) {
	b.t.Helper()
	for range n {
		ids = append(ids, b.submit(`{"type":"`+typ+`"`+strings.Join(more, "")+`}`).ID)
		b.end(typ, core.EndFail, said)
	}
	return ids
}

func TestDeadLetterGroups(t *testing.T) {
	b := newBench(t)
	ids := b.bury(3, "mail", "dial 10.0.0.1:25: refused")
	b.bury(1, "mail", `no "such" file`+"\n\"\\ <&>")
	b.bury(2, "bill", "dial 10.0.0.2:25: refused", `,"tenant":"x"`)
	get := func(query string) []deadGroup {
		t.Helper()
		got := decode[deadGroups](t, b.do("GET", "/v1/dead-letters/groups"+query, "").want(t, http.StatusOK))
		if got.Items == nil || got.Capped {
			t.Errorf("%s: %+v", query, got)
		}
		return got.Items
	}
	all := get("")
	if len(all) != 3 || all[0].Count != 3 || all[0].Type != "mail" || all[0].Error != "dial 10.0.0.1:25: refused" || all[1].Count != 2 || all[2].Error != "no \"such\" file\n\"\\ <&>" || all[0].First > all[0].Last {
		t.Fatalf("%+v", all)
	}
	for query, want := range map[string]int{
		"?type=mail": 2, "?tenant=x": 1, "?tenant=": 2, "?limit=2": 2, "?error_group=" + all[0].Group: 1, "?failed_before=2020-01-01T00:00:00Z": 0, "?error_group=0123456789abcdef": 0,
	} {
		if got := get(query); len(got) != want {
			t.Errorf("%s: %+v", query, got)
		}
	}
	got := decode[page](t, b.do("GET", "/v1/dead-letters?error_group="+all[0].Group+"&limit=2", ""))
	rest := decode[page](t, b.do("GET", "/v1/dead-letters?error_group="+all[0].Group+"&limit=2&cursor="+got.NextCursor, ""))
	if len(got.Items) != 2 || len(rest.Items) != 1 || rest.Items[0].ID != ids[0] {
		t.Errorf("%+v, then %+v", got, rest)
	}
	b.do("GET", "/v1/dead-letters?error_group="+all[1].Group+"&cursor="+got.NextCursor, "").want(t, 422) // another's
	if before := decode[page](t, b.do("GET", "/v1/dead-letters?failed_before=2020-01-01T00:00:00Z", "")); len(before.Items) != 0 {
		t.Errorf("%+v", before)
	}
}

func TestRedriveAtARate(t *testing.T) {
	b := newBench(t)
	ids := b.bury(5, "a", "no")
	group := decode[deadGroups](t, b.do("GET", "/v1/dead-letters/groups", "")).Items[0].Group
	call := func(body string) redriven {
		t.Helper()
		return decode[redriven](t, b.do("POST", "/v1/dead-letters/redrive", body).want(t, http.StatusOK))
	}
	if got := call(`{"error_group":"` + group + `","dry_run":true,"rate":2}`); got.Redriven != 0 || got.Remaining != 5 || !got.DryRun || len(b.poked) != 5 {
		t.Errorf("a dry run: %+v", got)
	}
	first := call(`{"error_group":"` + group + `","limit":2,"rate":2,"from":"2090-01-01T00:00:00Z"}`)
	if first.Redriven != 2 || first.Remaining != 3 || first.After != ids[1] || !first.Next.Equal(time.Date(2090, 1, 1, 0, 0, 1, 0, time.UTC)) || first.DryRun {
		t.Fatalf("%+v", first)
	}
	rest := call(`{"error_group":"` + group + `","rate":2,"after":"` + first.After + `","from":"` + first.Next.Format(time.RFC3339Nano) + `"}`)
	if rest.Redriven != 3 || rest.Remaining != 0 || rest.After != ids[4] || !rest.Next.Equal(time.Date(2090, 1, 1, 0, 0, 2, 500_000_000, time.UTC)) {
		t.Fatalf("%+v", rest)
	}
	for i, id := range ids {
		want := time.Date(2090, 1, 1, 0, 0, 0, i*500_000_000, time.UTC).Format("2006-01-02T15:04:05.000000Z07:00")
		if got := b.do("GET", "/v1/jobs/"+id, "").body; !strings.Contains(got, `"run_at":"`+want+`"`) {
			t.Errorf("job %d: want it due %s: %s", i, want, got)
		}
	}
	if none := call(`{"all":true,"rate":2,"from":"2090-01-01T00:00:00Z","after":"7"}`); none.Redriven != 0 || none.After != "7" || !none.Next.Equal(time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("with nothing left: %+v", none)
	}
	if at := call(`{"all":true}`); !at.Next.IsZero() || at.After != "" {
		t.Errorf("without a rate: %+v", at)
	}
}

func TestDiscardDryRun(t *testing.T) {
	b := newBench(t)
	b.bury(3, "a", "no")
	if got := b.do("DELETE", "/v1/dead-letters?type=a&dry_run=true", "").want(t, 200).body; got != `{"discarded":0,"left":[],"remaining":3,"capped":false,"dry_run":true}` {
		t.Error(got)
	}
	if got := b.do("DELETE", "/v1/dead-letters?type=a&limit=2", "").want(t, 200).body; got != `{"discarded":2,"left":[],"remaining":1,"capped":false,"after":"2"}` {
		t.Error(got)
	}
}

// Where few jobs match among many, pages come short, also empty, and together are the list.
func TestListGoesOnPastShortPages(t *testing.T) {
	for name, limit := range map[string]func(*api.Options){
		"looks": func(o *api.Options) { o.Limits.Looks = 1 }, "time": func(o *api.Options) { o.Limits.LookTime = 1 },
	} {
		t.Run(name, func(t *testing.T) { listPastShortPages(newBench(t, limit)) })
	}
}

func listPastShortPages(b *bench) {
	t := b.t
	want := []string{}
	for range 3 {
		want = append([]string{b.submit(`{"type":"rare","delay":"1h"}`).ID}, want...)
		jobs := make([]core.NewJob, 9000)
		for i := range jobs {
			jobs[i] = core.NewJob{Type: "common"}
		}
		if _, err := b.store.Submit(t.Context(), jobs); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	short := 0
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		target := "/v1/jobs?type=rare&limit=2"
		if cursor != "" {
			target += "&cursor=" + cursor
		}
		p := decode[page](t, b.do("GET", target, "").want(t, http.StatusOK))
		for _, j := range p.Items {
			got = append(got, j.ID)
		}
		if cursor = p.NextCursor; len(p.Items) < 2 && cursor != "" {
			short++
		}
		if pages > 100 {
			t.Fatal("the list does not end")
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") || short == 0 {
		t.Errorf("got %v with %d short pages, want %v", got, short, want)
	}
	if got, _ := b.walk("type=rare&limit=1000"); got != "rare rare rare" {
		t.Errorf("walked %s", got)
	}
}
