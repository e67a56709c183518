package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/belfry-dev/belfry/core"
)

// payloads are texts that many a reader and writer of JSON would change.
var payloads = []string{
	`null`, `{}`, `[]`, `""`, `0`, `false`, `true`,
	`{"id":3889108265204450030}`, `1970670598291982290`, `9007199254740993`, `-9223372036854775808`, `1e400`, `0.1`, `1.0`, `1.00`, // numbers that lose digits as float64
	`12345678901234567890123`, `-0`, `-0.0`, `1e5`, `1E+5`, `1e-400`,
	`{ "a" :	1 ,` + "\n\r" + ` "b":[ ] }`, `{"a":1,"a":2}`, `{"b":1,"a":2}`, `{"":""}`,
	`"é"`, `"\u00e9"`, `"e\u0301"`, `"\/"`, `"/"`, `"< > & ' \u003c"`, "\"\u2028\u2029\"", `"\u2028"`, "\"\x7f\"", `"\b\f\n\r\t\"\\"`,
	`"😀"`, `"\ud83d\ude00"`, `"\uD83D\uDE00"`, `"\ufffd"`, "\"\uFFFD\"", `"\\u0000"`, `"\ufeff"`, `{"é":"<script>"}`,
}

// A payload comes back byte for byte, from every call; nothing in it makes two jobs one.
func TestPayloadByteForByte(t *testing.T) {
	b := newBench(t)
	for _, payload := range append(payloads, deep(100), `"`+strings.Repeat("x", core.MaxPayloadBytes-2)+`"`) {
		a := b.do("POST", "/v1/jobs", `{"type":"echo","payload": `+payload+"\n}").want(t, http.StatusCreated)
		want := `,"payload":` + payload + `,"priority":`
		if !strings.Contains(a.body, want) {
			t.Errorf("submitted %.100s, answered %.200s", payload, a.body)
		}
		got := b.do("GET", "/v1/jobs/"+decode[job](t, a).ID, "").want(t, http.StatusOK)
		if !strings.Contains(got.body, want) {
			t.Errorf("submitted %.100s, kept %.200s", payload, got.body)
		}
		list := b.do("GET", "/v1/jobs?limit=1", "").want(t, http.StatusOK)
		if !strings.Contains(list.body, want) {
			t.Errorf("submitted %.100s, listed %.200s", payload, list.body)
		}
	}
	var batch []string
	for _, payload := range payloads {
		batch = append(batch, `{"payload":`+payload+` , "type":"echo"}`)
	}
	a := b.do("POST", "/v1/jobs/batch", `{"jobs":[`+strings.Join(batch, " , ")+`]}`).want(t, http.StatusOK)
	for _, payload := range payloads {
		if !strings.Contains(a.body, `,"payload":`+payload+`,"priority":`) {
			t.Errorf("the batch has no %s", payload)
		}
	}
}

func TestPayloadLeftOut(t *testing.T) {
	b := newBench(t)
	a := b.do("POST", "/v1/jobs", `{"type":"echo"}`).want(t, http.StatusCreated)
	got := b.do("GET", "/v1/jobs/"+decode[job](t, a).ID, "")
	if string(decode[job](t, a).Payload) != "{}" || string(decode[job](t, got).Payload) != "{}" {
		t.Errorf("answered %s, kept %s", a.body, got.body)
	}
}

// Names of every language come back as they were, and so do names that look like code.
func TestTexts(t *testing.T) {
	b := newBench(t)
	for _, text := range []string{"Ärzte", "队列", "👩‍⚕️", `a"b\c`, "<img src=x onerror=alert(1)>", "x'); DROP TABLE jobs;--", "a+b%20&c=d", "\u00a0", "e\u0301", "é"} {
		body := fmt.Sprintf(`{"type":"echo","tenant":%[1]s,"dedupe_key":%[1]s,"tags":[%[1]s]}`, quote(text))
		a := b.do("POST", "/v1/jobs", body).want(t, http.StatusCreated)
		for _, field := range []string{`"tenant":`, `"dedupe_key":`, `"tags":[`} {
			if !strings.Contains(a.body, field+quote(text)) {
				t.Errorf("%q: answered %s", text, a.body)
			}
		}
		again := b.do("POST", "/v1/jobs", body).want(t, http.StatusOK)
		if d := decode[job](t, again); !d.Duplicate || d.ID != decode[job](t, a).ID || d.Tenant != text {
			t.Errorf("%q: submitted again, answered %s", text, again.body)
		}
	}
}

func quote(text string) string {
	return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(text) + `"`
}

// FuzzSubmit sends any body: it is refused with a problem, or what is kept is what was sent.
func FuzzSubmit(f *testing.F) {
	for _, row := range append(malformed(), wrong()[:60]...) {
		f.Add(row.body)
	}
	for _, payload := range payloads {
		f.Add(`{"type":"echo","payload":` + payload + `}`)
	}
	f.Add(`{"type":"a","run_at":"2026-03-01T12:00:00.123456789+01:00","expires_at":"2100-01-01T00:00:00Z","backoff":["1s","2h"],"tags":["x"],"timeout":"1m"}`)
	b := newBench(f)
	f.Fuzz(func(t *testing.T, body string) {
		b.t = t
		a := b.do("POST", "/v1/jobs", body)
		if a.status >= 500 || a.status < 200 {
			t.Fatalf("%q: %d %s", body, a.status, a.body)
		}
		if !utf8.ValidString(a.body) {
			t.Errorf("%q: the answer is not UTF-8: %q", body, a.body)
		}
		if a.status >= 300 {
			return
		}
		j := decode[job](t, a)
		if j.Duplicate {
			return
		}
		if !strings.Contains(body, string(j.Payload)) && string(j.Payload) != "{}" {
			t.Errorf("%q: payload %s", body, j.Payload)
		}
		if got := b.do("GET", "/v1/jobs/"+j.ID, ""); got.body != a.body {
			t.Errorf("%q: answered %s, kept %s", body, a.body, got.body)
		}
	})
}
