package webhook

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/decide"
)

// The kind of an error shows in the end that core decides: one attempt of five, decided as a worker does.
func TestStatusesDecideTheEnd(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for code, want := range map[int]core.Outcome{
		200: core.EndDone, 201: core.EndDone, 203: core.EndDone, 204: core.EndDone, 226: core.EndDone, 299: core.EndDone,
		101: core.EndRetry, 300: core.EndRetry, 302: core.EndRetry, 304: core.EndRetry, 308: core.EndRetry,
		400: core.EndFail, 401: core.EndFail, 403: core.EndFail, 404: core.EndFail, 409: core.EndFail, 410: core.EndFail, 418: core.EndFail, 422: core.EndFail, 499: core.EndFail,
		408: core.EndRetry, 425: core.EndRetry, 429: core.EndRetry, 500: core.EndRetry, 501: core.EndRetry, 502: core.EndRetry, 503: core.EndRetry, 504: core.EndRetry, 599: core.EndRetry,
		600: core.EndRetry, 999: core.EndRetry,
	} {
		end := judgeAnswer("h:80", &http.Response{StatusCode: code, Header: http.Header{}}, answerBody{}, now)
		decided := decide.End(&core.Job{Attempts: 1, MaxAttempts: 5}, decide.Ran{Err: end.err, Result: end.result}, now, 0.5)
		if decided.Outcome != want {
			t.Errorf("%d: outcome %d, want %d", code, decided.Outcome, want)
		}
		if end.err != nil && (!strings.Contains(end.err.Error(), strconv.Itoa(code)) || strings.Contains(end.err.Error(), "canary")) {
			t.Errorf("%d: %v", code, end.err)
		}
	}
}

func TestAcceptedIsToldApart(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	w := newWebhook(t, Options{Guard: loopback(t)})
	if result, err := w.Work(t.Context(), jobFor(r)); !errors.Is(err, core.ErrAccepted) || result != nil {
		t.Errorf("%s, %v", result, err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	const own = -1 // the job's own back-off
	for text, want := range map[string]time.Duration{
		"120": 2 * time.Minute, " 7 ": 7 * time.Second, "0": time.Second, "86400": 24 * time.Hour, "86401": 24 * time.Hour,
		"99999999999999999999999999": 24 * time.Hour, "9223372036854775807": 24 * time.Hour,
		"Wed, 04 Mar 2026 05:16:07 GMT":     10 * time.Minute,
		"Wednesday, 04-Mar-26 05:16:07 GMT": 10 * time.Minute, "Wed Mar  4 05:16:07 2026": 10 * time.Minute,
		"Wed, 04 Mar 2026 05:00:00 GMT": time.Second, "Fri, 04 Mar 2099 05:16:07 GMT": 24 * time.Hour, "Mon, 01 Jan 0001 00:00:00 GMT": time.Second,
		"": own, "-5": own, "1.5": own, "soon": own, "+5": own, "5s": own, "2026-03-04T05:16:07Z": own,
	} {
		for _, code := range []int{408, 425, 429, 500, 503} {
			end := judgeAnswer("h:80", &http.Response{StatusCode: code, Header: http.Header{"Retry-After": {text}}}, answerBody{}, now)
			wait := decide.End(&core.Job{Attempts: 1, MaxAttempts: 5}, decide.Ran{Err: end.err}, now, 0.5).Wait
			if want == own && wait != decide.DefaultBackoff[0] || want != own && wait != want {
				t.Errorf("%d, Retry-After %q: waits %s, want %s", code, text, wait, want)
			}
		}
		for _, code := range []int{400, 410, 422} {
			end := judgeAnswer("h:80", &http.Response{StatusCode: code, Header: http.Header{"Retry-After": {text}}}, answerBody{}, now)
			if !core.IsPermanent(end.err) {
				t.Errorf("%d with Retry-After %q is not permanent", code, text)
			}
		}
	}
	// A target whose clock is an hour ahead asks for a wait of ten minutes by its own clock.
	h := http.Header{"Date": {"Wed, 04 Mar 2026 06:06:07 GMT"}, "Retry-After": {"Wed, 04 Mar 2026 06:16:07 GMT"}}
	if wait, ok := retryAfter(h, now); !ok || wait != 10*time.Minute {
		t.Errorf("by the target's clock: %s, %t", wait, ok)
	}
}

// note returns the note that an attempt leaves on its job besides the result. The job must end as done.
func note(t *testing.T, err error) string {
	t.Helper()
	end := decide.End(&core.Job{}, decide.Ran{Err: err}, time.Time{}, 0)
	if end.Outcome != core.EndDone || len(end.Errors) > 1 {
		t.Fatalf("outcome %d: %v", end.Outcome, err)
	}
	if len(end.Errors) == 0 {
		return ""
	}
	return end.Errors[0].Error
}

// Only JSON that core accepts is kept as the result. Otherwise the job is done without a result, and says why if there was
// one.
func TestResults(t *testing.T) {
	deep := strings.Repeat("[", core.MaxPayloadDepth+1) + strings.Repeat("]", core.MaxPayloadDepth+1)
	long := `"` + strings.Repeat("a", core.MaxResultBytes-2) + `"`
	for body, kept := range map[string]bool{
		`{"id":12345678901234567890123,"e":1e400}`: true, "null": true, `"x"`: true, " [1] ": true, "": false, "ok": false, "<html>": false,
		`{"a":1}{`: false, `"\u0000"`: false, `"\ud800"`: false, "\"\xff\"": false, deep: false, long: true, long + " ": false,
	} {
		for _, kind := range []string{"application/json", "application/problem+json; charset=utf-8", "text/plain", "text/html", ""} {
			r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{kind}
				fmt.Fprint(w, body)
			})
			w := newWebhook(t, Options{Guard: loopback(t)})
			result, err := w.Work(t.Context(), jobFor(r))
			if kept && string(result) != body || !kept && result != nil {
				t.Errorf("%.40q: kept %.40q, %v", body, result, err)
			}
			says := !kept && body != "" && strings.Contains(kind, "json") || len(body) > core.MaxResultBytes
			if got := note(t, err); strings.Contains(got, "answered 200 OK; its result was lost: ") != says {
				t.Errorf("%.40q as %q says %q", body, kind, got)
			}
		}
	}
}

// A job whose 2xx body is cut off is done, and says that its result was lost. A body that ends with its connection does not
// count, because its end looks like a break.
func TestCutBodySaysThatTheResultIsLost(t *testing.T) {
	for name, answer := range map[string]string{
		"shorter than it says": "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"a\":1}",
		"nothing of it":        "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n",
		"a chunk is missing":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{\"a\":1}\r\n",
		"in the middle of one": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{\"a\":1}",
		"a chunk that is none": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
	} {
		w := newWebhook(t, Options{Guard: loopback(t)})
		job := &core.Job{ID: 1, Payload: fmt.Appendf(nil, "%q", bytes.Repeat([]byte("x"), 100_000)), Target: targetOf("http://" + listen(t, hangUp(answer, 0)))}
		result, err := w.Work(t.Context(), job)
		if got := note(t, err); result != nil || !strings.HasSuffix(got, "; its result was lost: the answer's body broke off") {
			t.Errorf("%s: %s, %q", name, result, got)
		}
	}
}

// An endless or compressed answer is not read beyond the bound and not unpacked.
func TestAnswerIsReadBounded(t *testing.T) {
	var sent int
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		for chunk := bytes.Repeat([]byte("a"), 64<<10); sent < 1<<30; sent += len(chunk) {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})
	w := newWebhook(t, Options{Guard: loopback(t)})
	if result, err := w.Work(t.Context(), jobFor(r)); result != nil || !strings.Contains(note(t, err), "more than 65536 bytes") {
		t.Errorf("%.20s, %v", result, err)
	}
	r.Close() // waits for the handler
	if sent > 64<<20 {
		t.Errorf("%d bytes were taken", sent)
	}
}

func TestAnswerHeaderIsBounded(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Long", strings.Repeat("a", 1<<20)) })
	w := newWebhook(t, Options{Guard: loopback(t)})
	if _, err := w.Work(t.Context(), jobFor(r)); err == nil || core.IsPermanent(err) {
		t.Errorf("%v", err)
	}
}
