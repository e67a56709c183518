package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// bad is a request that must be refused.
type bad struct {
	name, method, target, body string
	status                     int
	field                      string // named in the problem
	header                     []string
}

// submitted makes a row for POST /v1/jobs.
func submitted(name, body string, status int, field string) bad {
	return bad{name: name, method: "POST", target: "/v1/jobs", body: body, status: status, field: field}
}

// with is a job with one more member, which is at fault.
func with(name, member, field string) bad {
	return submitted(name, `{"type":"echo",`+member+`}`, http.StatusUnprocessableEntity, field)
}

func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// malformed bodies are 400, whatever they were meant to say.
func malformed() []bad {
	rows := []bad{}
	for name, body := range map[string]string{
		"not JSON": "hello", "cut off": `{"type":"echo"`, "white space": "  \n ", "two values": `{"type":"echo"} {}`,
		"trailing comma": `{"type":"echo",}`, "single quotes": `{'type':'echo'}`, "comment": `{/**/"type":"echo"}`,
		"NaN": `{"type":"echo","payload":NaN}`, "leading zero": `{"type":"echo","payload":01}`, "plus sign": `{"type":"echo","payload":+1}`,
		"bare control character": "{\"type\":\"ec\nho\"}", "bad escape": `{"type":"\q"}`, "short unicode escape": `{"type":"\u12"}`,
		"invalid UTF-8 in a payload": "{\"type\":\"echo\",\"payload\":\"\xff\"}", "invalid UTF-8 in a name": "{\"ty\xc3pe\":\"echo\"}",
		"UTF-16": "{\x00\"\x00t\x00", "surrogate in UTF-8": "{\"type\":\"echo\",\"payload\":\"\xed\xa0\x80\"}",
		"byte order mark": "\xef\xbb\xbf{\"type\":\"echo\"}", "NUL after": "{\"type\":\"echo\"}\x00", "nested beyond all": `{"type":"echo","payload":` + deep(10_000) + `}`,
	} {
		field := "body"
		if name == "white space" {
			field = ""
		}
		rows = append(rows, submitted(name, body, http.StatusBadRequest, field))
	}
	return rows
}

// wrong bodies are JSON and break a rule.
func wrong() []bad {
	return []bad{
		submitted("an array", `[{"type":"echo"}]`, 422, "body"),
		submitted("a string", `"echo"`, 422, "body"),
		submitted("null", `null`, 422, "body"),
		submitted("no type", `{}`, 422, "type"),
		submitted("type null", `{"type":null}`, 422, "type"),
		submitted("type a number", `{"type":7}`, 422, "type"),
		submitted("type empty", `{"type":""}`, 422, "type"),
		submitted("type with a space", `{"type":"a b"}`, 422, "type"),
		submitted("type with dots", `{"type":"../x"}`, 422, "type"),
		submitted("type with NUL", `{"type":"a\u0000"}`, 422, "type"),
		submitted("type lone surrogate", `{"type":"\ud800"}`, 422, "type"),
		submitted("type too long", `{"type":"`+strings.Repeat("t", 201)+`"}`, 422, "type"),
		submitted("type twice", `{"type":"echo","type":"echo"}`, 422, "type"),
		submitted("type twice, once escaped", `{"type":"echo","\u0074ype":"echo"}`, 422, "type"),
		with("unknown field", `"paylod":1`, "paylod"),
		with("unknown case", `"Payload":1`, "Payload"),
		with("unknown empty", `"":1`, `""`),
		with("unknown lone surrogate", `"\ud800":1`, "\uFFFD"),
		with("id", `"id":"1"`, "id"),
		with("status", `"status":"done"`, "status"),
		with("payload twice", `"payload":1,"payload":2`, "payload"),
		with("payload with NUL", `"payload":{"a":["\u0000"]}`, "payload"),
		with("payload with NUL in a name", `"payload":{"\u0000":1}`, "payload"),
		with("payload high surrogate", `"payload":"\ud83d"`, "payload"),
		with("payload low surrogate", `"payload":"\ude00"`, "payload"),
		with("payload swapped surrogates", `"payload":"\ude00\ud83d"`, "payload"),
		with("payload nested 101", `"payload":`+deep(101), "payload"),
		with("payload nested 101 objects", `"payload":`+strings.Repeat(`{"a":`, 101)+"1"+strings.Repeat("}", 101), "payload"),
		with("run_at year 10000", `"run_at":"10000-01-02T00:00:00Z"`, "run_at"),
		with("run_at year 20231", `"run_at":"20231-01-01T00:00:00Z"`, "run_at"),
		with("run_at infinity", `"run_at":"infinity"`, "run_at"),
		with("run_at far", `"run_at":"9999-12-31T23:59:59Z"`, "run_at"),
		with("run_at zero", `"run_at":"0001-01-01T00:00:00Z"`, "run_at"),
		with("run_at long ago", `"run_at":"1970-01-01T00:00:00Z"`, "run_at"),
		with("run_at negative", `"run_at":"-0044-03-15T00:00:00Z"`, "run_at"),
		with("run_at a date", `"run_at":"2026-03-01"`, "run_at"),
		with("run_at without offset", `"run_at":"2026-03-01T12:00:00"`, "run_at"),
		with("run_at 30 February", `"run_at":"2026-02-30T12:00:00Z"`, "run_at"),
		with("run_at 24:00", `"run_at":"2026-02-01T24:00:00Z"`, "run_at"),
		with("run_at a number", `"run_at":1767225600`, "run_at"),
		with("run_at empty", `"run_at":""`, "run_at"),
		with("run_at null", `"run_at":null`, "run_at"),
		with("run_at long", `"run_at":"2026-03-01T12:00:00.`+strings.Repeat("0", 1000)+`Z"`, "run_at"),
		with("run_at and delay", `"run_at":"2027-03-01T12:00:00Z","delay":"1s"`, "delay"),
		with("run_at and no delay", `"run_at":"2027-03-01T12:00:00Z","delay":"0s"`, "delay"),
		with("delay a number", `"delay":5`, "delay"),
		with("delay without unit", `"delay":"5"`, "delay"),
		with("delay 0 without unit", `"delay":"0"`, "delay"),
		with("delay negative", `"delay":"-1s"`, "delay"),
		with("delay in days", `"delay":"1d"`, "delay"),
		with("delay absurd", `"delay":"876001h"`, "delay"),
		with("delay beyond int64", `"delay":"99999999999999999999h"`, "delay"),
		with("delay infinity", `"delay":"inf"`, "delay"),
		with("delay empty", `"delay":""`, "delay"),
		with("priority", `"priority":"urgent"`, "priority"),
		with("priority a number", `"priority":1`, "priority"),
		with("priority in capitals", `"priority":"Critical"`, "priority"),
		with("tenant a number", `"tenant":1`, "tenant"),
		with("tenant with newline", `"tenant":"a\nb"`, "tenant"),
		with("tenant with NUL", `"tenant":"a\u0000b"`, "tenant"),
		with("tenant lone surrogate", `"tenant":"\ud800"`, "tenant"),
		with("tenant too long", `"tenant":"`+strings.Repeat("t", 256)+`"`, "tenant"),
		with("dedupe_key empty", `"dedupe_key":""`, "dedupe_key"),
		with("dedupe_key too long", `"dedupe_key":"`+strings.Repeat("k", 513)+`"`, "dedupe_key"),
		with("dedupe_key an object", `"dedupe_key":{"a":1}`, "dedupe_key"),
		with("max_attempts 0", `"max_attempts":0`, "max_attempts"),
		with("max_attempts 101", `"max_attempts":101`, "max_attempts"),
		with("max_attempts a fraction", `"max_attempts":1.5`, "max_attempts"),
		with("max_attempts a string", `"max_attempts":"5"`, "max_attempts"),
		with("max_attempts huge", `"max_attempts":99999999999999999999`, "max_attempts"),
		with("timeout 0", `"timeout":"0s"`, "timeout"),
		with("timeout short", `"timeout":"999ms"`, "timeout"),
		with("timeout long", `"timeout":"24h0m1s"`, "timeout"),
		with("timeout negative", `"timeout":"-1h"`, "timeout"),
		with("expires_at past", `"expires_at":"2020-01-01T00:00:00Z"`, "expires_at"),
		with("expires_at zero", `"expires_at":"0001-01-01T00:00:00Z"`, "expires_at"),
		with("expires_at before run_at", `"run_at":"2030-01-02T00:00:00Z","expires_at":"2030-01-01T00:00:00Z"`, "expires_at"),
		with("backoff a string", `"backoff":"30s"`, "backoff"),
		with("backoff empty", `"backoff":[]`, "backoff"),
		with("backoff of 21", `"backoff":["1s"`+strings.Repeat(`,"1s"`, 20)+`]`, "backoff"),
		with("backoff negative", `"backoff":["1s","-1s"]`, "backoff[1]"),
		with("backoff a number", `"backoff":["1s",2]`, "backoff[1]"),
		with("backoff too short to be kept", `"backoff":["1s","1ns"]`, "backoff[1]"),
		with("backoff below a nanosecond", `"backoff":["0.3ns"]`, "backoff[0]"),
		with("delay too short to be kept", `"delay":"999ns"`, "delay"),
		with("backoff absurd", `"backoff":["721h"]`, "backoff[0]"),
		with("tags a string", `"tags":"a"`, "tags"),
		with("tags of 21", `"tags":["a"`+strings.Repeat(`,"a"`, 20)+`]`, "tags"),
		with("tag empty", `"tags":["a",""]`, "tags[1]"),
		with("tag a number", `"tags":[1]`, "tags[0]"),
		with("tag long", `"tags":["`+strings.Repeat("t", 65)+`"]`, "tags[0]"),
		with("target", `"target":{"url":"https://example.com"}`, "target"),
		submitted("payload too large", `{"type":"echo","payload":"`+strings.Repeat("x", core.MaxPayloadBytes-1)+`"}`, 413, "payload"),
		submitted("body too large", `{"type":"echo","payload":"`+strings.Repeat("x", core.MaxPayloadBytes+64<<10)+`"}`, 413, "body"),
	}
}

// elsewhere are bad requests to the other calls, and bad headers.
func elsewhere() []bad {
	job := `{"type":"echo"}`
	return []bad{
		{"no content type", "POST", "/v1/jobs", job, 415, "Content-Type", []string{"Content-Type", ""}},
		{"form", "POST", "/v1/jobs", job, 415, "Content-Type", []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"text", "POST", "/v1/jobs", job, 415, "Content-Type", []string{"Content-Type", "text/plain"}},
		{"latin 1", "POST", "/v1/jobs", job, 415, "Content-Type", []string{"Content-Type", "application/json; charset=iso-8859-1"}},
		{"gzip", "POST", "/v1/jobs", job, 415, "Content-Encoding", []string{"Content-Encoding", "gzip"}},
		{"gzip batch", "POST", "/v1/jobs/batch", job, 415, "Content-Encoding", []string{"Content-Encoding", "identity, gzip"}},
		{"idempotency key", "POST", "/v1/jobs", job, 422, "Idempotency-Key", []string{"Idempotency-Key", "a b"}},
		{"idempotency key, long", "POST", "/v1/jobs", job, 422, "Idempotency-Key", []string{"Idempotency-Key", strings.Repeat("k", 256)}},
		{"idempotency key, no ASCII", "POST", "/v1/jobs", job, 422, "Idempotency-Key", []string{"Idempotency-Key", "schlüssel"}},
		{"idempotency key, cancel", "POST", "/v1/jobs/1/cancel", "", 422, "Idempotency-Key", []string{"Idempotency-Key", "k"}},
		{"idempotency key, discard", "DELETE", "/v1/dead-letters?all=true", "", 422, "Idempotency-Key", []string{"Idempotency-Key", "k"}},
		{"idempotency key, batch", "POST", "/v1/jobs/batch", `{"jobs":[` + job + `]}`, 422, "Idempotency-Key", []string{"Idempotency-Key", ""}},
		{"another origin", "POST", "/v1/jobs", job, 403, "", []string{"Sec-Fetch-Site", "cross-site"}},
		{"another origin deletes", "DELETE", "/v1/dead-letters?all=true", "", 403, "", []string{"Origin", "https://evil.example"}},

		{"batch empty", "POST", "/v1/jobs/batch", `{}`, 422, "jobs", nil},
		{"batch of none", "POST", "/v1/jobs/batch", `{"jobs":[]}`, 422, "jobs", nil},
		{"batch not an array", "POST", "/v1/jobs/batch", `{"jobs":{}}`, 422, "jobs", nil},
		{"batch unknown field", "POST", "/v1/jobs/batch", `{"jobs":[` + job + `],"atomic":true}`, 422, "atomic", nil},
		{"batch twice", "POST", "/v1/jobs/batch", `{"jobs":[` + job + `],"jobs":[` + job + `]}`, 422, "jobs", nil},
		{"batch not JSON", "POST", "/v1/jobs/batch", `{"jobs":[` + job + `]`, 400, "body", nil},
		{"batch not UTF-8", "POST", "/v1/jobs/batch", "{\"jobs\":[{\"type\":\"echo\",\"payload\":\"\xff\"}]}", 400, "body", nil},
		{"batch of 10,001", "POST", "/v1/jobs/batch", `{"jobs":[` + job + strings.Repeat(","+job, core.MaxBatch) + `]}`, 422, "jobs", nil},

		{"id a word", "GET", "/v1/jobs/abc", "", 422, "id", nil},
		{"id zero", "GET", "/v1/jobs/0", "", 422, "id", nil},
		{"id negative", "GET", "/v1/jobs/-1", "", 422, "id", nil},
		{"id signed", "GET", "/v1/jobs/+1", "", 422, "id", nil},
		{"id with zeros", "GET", "/v1/jobs/01", "", 422, "id", nil},
		{"id beyond int64", "GET", "/v1/jobs/9223372036854775808", "", 422, "id", nil},
		{"id a fraction", "GET", "/v1/jobs/1.0", "", 422, "id", nil},
		{"id SQL", "GET", "/v1/jobs/1%27%20OR%201=1", "", 422, "id", nil},
		{"id with a slash", "GET", "/v1/jobs/1%2F2", "", 422, "id", nil},
		{"id NUL", "POST", "/v1/jobs/%00/cancel", "", 422, "id", nil},
		{"id of no job", "GET", "/v1/jobs/9223372036854775807", "", 404, "", nil},
		{"cancel of no job", "POST", "/v1/jobs/404/cancel", "", 404, "", nil},
		{"retry of no job", "POST", "/v1/jobs/404/retry", "{}", 404, "", nil},
		{"cancel with fields", "POST", "/v1/jobs/1/cancel", `{"force":true}`, 422, "force", nil},
		{"cancel with a query", "POST", "/v1/jobs/1/cancel?force=1", "", 422, "force", nil},
		{"retry with an array", "POST", "/v1/jobs/1/retry", `[]`, 422, "body", nil},
		{"wait a number", "GET", "/v1/jobs/1?wait=30", "", 422, "wait", nil},
		{"wait negative", "GET", "/v1/jobs/1?wait=-1s", "", 422, "wait", nil},
		{"wait long", "GET", "/v1/jobs/1?wait=61s", "", 422, "wait", nil},
		{"wait twice", "GET", "/v1/jobs/1?wait=1s&wait=2s", "", 422, "wait", nil},
		{"unknown parameter", "GET", "/v1/jobs/1?weit=1s", "", 422, "weit", nil},
		{"reschedule without body", "POST", "/v1/jobs/1/reschedule", "", 422, "run_at", nil},
		{"reschedule without time", "POST", "/v1/jobs/1/reschedule", "{}", 422, "run_at", nil},
		{"reschedule with both", "POST", "/v1/jobs/1/reschedule", `{"run_at":"2030-01-01T00:00:00Z","delay":"1s"}`, 422, "run_at", nil},
		{"reschedule far", "POST", "/v1/jobs/1/reschedule", `{"run_at":"2930-01-01T00:00:00Z"}`, 422, "run_at", nil},
		{"reschedule negative", "POST", "/v1/jobs/1/reschedule", `{"delay":"-1s"}`, 422, "delay", nil},
		{"reschedule unknown", "POST", "/v1/jobs/1/reschedule", `{"delay":"1s","priority":"bulk"}`, 422, "priority", nil},

		{"list limit 0", "GET", "/v1/jobs?limit=0", "", 422, "limit", nil},
		{"list limit 1001", "GET", "/v1/jobs?limit=1001", "", 422, "limit", nil},
		{"list limit a word", "GET", "/v1/jobs?limit=all", "", 422, "limit", nil},
		{"list limit empty", "GET", "/v1/jobs?limit=", "", 422, "limit", nil},
		{"list status", "GET", "/v1/jobs?status=done&status=gone", "", 422, "status", nil},
		{"list priority", "GET", "/v1/jobs?priority=high", "", 422, "priority", nil},
		{"list run_after", "GET", "/v1/jobs?run_after=yesterday", "", 422, "run_after", nil},
		{"list run_before", "GET", "/v1/jobs?run_before=10000-01-01T00:00:00Z", "", 422, "run_before", nil},
		{"list type twice", "GET", "/v1/jobs?type=a&type=b", "", 422, "type", nil},
		{"list type NUL", "GET", "/v1/jobs?type=%00", "", 422, "type", nil},
		{"list tenant not UTF-8", "GET", "/v1/jobs?tenant=%ff", "", 422, "tenant", nil},
		{"list tag long", "GET", "/v1/jobs?tag=" + strings.Repeat("t", 65), "", 422, "tag", nil},
		{"list sort", "GET", "/v1/jobs?sort=created_at;select", "", 422, "query", nil},
		{"list bad escape", "GET", "/v1/jobs?type=%zz", "", 422, "query", nil},
		{"list unknown", "GET", "/v1/jobs?sort=created_at", "", 422, "sort", nil},
		{"list cursor made up", "GET", "/v1/jobs?cursor=AAAA", "", 422, "cursor", nil},
		{"list cursor empty", "GET", "/v1/jobs?cursor=", "", 422, "cursor", nil},
		{"list cursor no base64", "GET", "/v1/jobs?cursor=!!", "", 422, "cursor", nil},
		{"dead letters status", "GET", "/v1/dead-letters?status=done", "", 422, "status", nil},

		{"redrive without body", "POST", "/v1/dead-letters/redrive", "", 422, "all", nil},
		{"redrive without filter", "POST", "/v1/dead-letters/redrive", `{"limit":5}`, 422, "all", nil},
		{"redrive all false", "POST", "/v1/dead-letters/redrive", `{"all":false}`, 422, "all", nil},
		{"redrive all a word", "POST", "/v1/dead-letters/redrive", `{"all":"true"}`, 422, "all", nil},
		{"redrive limit", "POST", "/v1/dead-letters/redrive", `{"all":true,"limit":10001}`, 422, "limit", nil},
		{"redrive ids numbers", "POST", "/v1/dead-letters/redrive", `{"ids":[1]}`, 422, "ids[0]", nil},
		{"redrive ids none", "POST", "/v1/dead-letters/redrive", `{"ids":[]}`, 422, "ids", nil},
		{"redrive ids words", "POST", "/v1/dead-letters/redrive", `{"ids":["1","x"]}`, 422, "ids[1]", nil},
		{"redrive type empty", "POST", "/v1/dead-letters/redrive", `{"type":""}`, 422, "type", nil},
		{"redrive type NUL", "POST", "/v1/dead-letters/redrive", `{"type":"\u0000"}`, 422, "type", nil},
		{"redrive unknown", "POST", "/v1/dead-letters/redrive", `{"all":true,"speed":1}`, 422, "speed", nil},
		{"discard without filter", "DELETE", "/v1/dead-letters", "", 422, "all", nil},
		{"discard empty type", "DELETE", "/v1/dead-letters?type=", "", 422, "all", nil},
		{"discard all a word", "DELETE", "/v1/dead-letters?all=yes", "", 422, "all", nil},
		{"discard ids", "DELETE", "/v1/dead-letters?id=1&id=x", "", 422, "id[1]", nil},
		{"discard before", "DELETE", "/v1/dead-letters?failed_before=now", "", 422, "failed_before", nil},
		{"stats with a query", "GET", "/v1/stats?type=x", "", 422, "type", nil},

		{"no route", "GET", "/v2/jobs", "", 404, "", nil},
		{"slash at the end", "GET", "/v1/jobs/", "", 404, "", nil},
		{"two slashes", "GET", "/v1//jobs", "", 404, "", nil},
		{"dots", "GET", "/v1/x/../jobs", "", 404, "", nil},
		{"method of jobs", "PUT", "/v1/jobs", "", 405, "", nil},
		{"method of a job", "DELETE", "/v1/jobs/1", "", 405, "", nil},
		{"method of cancel", "GET", "/v1/jobs/1/cancel", "", 405, "", nil},
		{"method of the batch", "GET", "/v1/jobs/batch", "", 405, "", nil},
		{"method of health", "POST", "/healthz", "", 405, "", nil},
		{"method of a stranger", "BREW", "/v1/jobs", "", 405, "", nil},
	}
}

// What cannot be kept is refused, the problem names the field, and nothing is written.
func TestBadInput(t *testing.T) {
	b := newBench(t)
	b.submit(`{"type":"untouched","run_at":"2030-01-01T00:00:00Z"}`)
	before := b.do("GET", "/v1/jobs", "").want(t, http.StatusOK).body
	rows := slices.Concat(malformed(), wrong(), elsewhere(), deadLetters())
	if len(rows) < 80 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		got := b.do(row.method, row.target, row.body, row.header...)
		if got.status != row.status {
			t.Errorf("%s: status %d, want %d: %.300s", row.name, got.status, row.status, got.body)
			continue
		}
		p := decode[problem.Problem](t, got)
		named := slices.ContainsFunc(p.Errors, func(f problem.FieldProblem) bool { return f.Field == row.field && f.Rule != "" })
		if row.field != "" && !named {
			t.Errorf("%s: the problem does not name %s: %.300s", row.name, row.field, got.body)
		}
		if len(got.body) > 8<<10 {
			t.Errorf("%s: a problem of %d bytes", row.name, len(got.body))
		}
	}
	if after := b.do("GET", "/v1/jobs", "").body; after != before {
		t.Errorf("a refused request changed something: %.500s", after)
	}
	if len(b.poked) != 1 {
		t.Errorf("poked %d times", len(b.poked))
	}
}

func TestAllowNamesTheMethods(t *testing.T) {
	b := newBench(t)
	for target, want := range map[string]string{
		"/v1/jobs": "GET, HEAD, POST", "/v1/jobs/1/cancel": "POST", "/v1/dead-letters": "GET, HEAD, DELETE", "/healthz": "GET, HEAD",
		"/v1/jobs/batch": "POST",
	} {
		if got := b.do("PATCH", target, "").want(t, http.StatusMethodNotAllowed).header.Get("Allow"); got != want {
			t.Errorf("%s: Allow %q, want %q", target, got, want)
		}
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	b := newBench(t)
	got := b.do("POST", "/v1/jobs", `{"type":"a b","max_attempts":"x","priority":"x","timeout":"0s","tags":[""],"whatever":1,"delay":-1}`).want(t, 422)
	var fields []string
	for _, f := range decode[problem.Problem](t, got).Errors {
		fields = append(fields, f.Field)
	}
	slices.Sort(fields)
	if want := []string{"delay", "max_attempts", "priority", "tags[0]", "timeout", "type", "whatever"}; !slices.Equal(fields, want) {
		t.Errorf("fields %v, want %v", fields, want)
	}
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, `"x%d":1,`, i)
	}
	got = b.do("POST", "/v1/jobs", `{`+many.String()+`"type":"echo"}`).want(t, 422)
	if n := len(decode[problem.Problem](t, got).Errors); n != 20 {
		t.Errorf("%d faults told of 1000", n)
	}
}
