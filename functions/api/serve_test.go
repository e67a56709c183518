package api_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/call"
)

// get sends a request whose answer is not held against the document.
func get(b *bench, target string) Writer {
	w := httptest.NewRecorder()
	b.api.ServeHTTP(w, httptest.NewRequestWithContext(b.t.Context(), "GET", target, nil))
	return Writer{w.Code, w.Result().Header, w.Body.String()}
}

// canary stands for anything secret.
const canary = "hunter2-canary"

// The one table from error to status; and no error's text reaches the client.
func TestStatusOfErrors(t *testing.T) {
	for _, row := range []struct {
		err    error
		status int
		retry  bool
	}{
		{core.ErrNotFound, 404, false}, {core.ErrConflict, 409, false}, {core.ErrBusy, 503, true}, {core.ErrUnavailable, 503, true},
		{core.ErrReadOnly, 503, true}, {fmt.Errorf("%w: %w", core.ErrFull, core.ErrReadOnly), 503, true}, {core.Advise(core.ErrUnsafe, canary), 503, true}, {core.ErrSchema, 503, false}, {core.ErrLocked, 503, false}, {core.ErrCorrupt, 503, false},
		{submit.ErrClosed, 503, true}, {context.DeadlineExceeded, 503, true}, {errors.New("unknown"), 500, false},
		{core.FieldErrors{{Field: "payload", Rule: "must be"}}, 422, false}, {&core.FieldError{Field: "payload", Rule: "must be"}, 422, false},
	} {
		err := fmt.Errorf("postgres: submit: dial postgres://u:%s@db.internal/x: %w", canary, row.err)
		b := newBench(t, func(o *api.Options) { o.Jobs = failing{o.Jobs, err} })
		a := b.do("POST", "/v1/jobs/1/cancel", "")
		if a.status != row.status || (a.header.Get("Retry-After") != "") != row.retry {
			t.Errorf("%v: status %d, Retry-After %q", row.err, a.status, a.header.Get("Retry-After"))
		}
		if strings.Contains(a.body, canary) || strings.Contains(a.body, "db.internal") {
			t.Errorf("%v: the answer leaks: %s", row.err, a.body)
		}
	}
}

// failing is a store that cannot cancel.
type failing struct {
	core.JobStore
	err error
}

func (f failing) Cancel(context.Context, int64) (core.Job, error) { return core.Job{}, f.err }

// panicking is a store that panics with what it is given.
type panicking struct{ call.Submitter }

func (panicking) Check(_ context.Context, j core.NewJob, _ time.Time) (core.CheckedJob, error) {
	panic("payload " + string(j.Payload))
}

// Nothing logs a payload, a password, a token, a query or an id in a path.
func TestLogHoldsNoSecrets(t *testing.T) {
	var log bytes.Buffer
	logger := func(o *api.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	payload := `{"type":"echo","tenant":"` + canary + `","dedupe_key":"` + canary + `","payload":{"password":"` + canary + `"}}`
	b := newBench(t, logger)
	b.do("POST", "/v1/jobs", payload, "Authorization", "Bearer "+canary)
	b.do("POST", "/v1/jobs", strings.Replace(payload, "{", "{"+canary, 1))
	b.do("GET", "/v1/jobs?tenant="+canary+"&type="+canary, "")
	b.do("GET", "/v1/jobs?cursor="+canary, "")
	b.do("GET", "/v1/jobs/"+canary, "")
	b.do("GET", "/"+canary, "")
	b.do(canary, "/v1/jobs", "")
	for _, text := range []string{
		"dial postgres://u:" + canary + "@h/db?sslpassword=" + canary, `cannot parse "host=h password=` + canary + ` user=u"`,
		"password='" + canary + " x'", "webhook https://h/x?token=" + canary + " refused", "Authorization: Bearer " + canary, "PASSWORD = " + canary,
		`{"token": "` + canary + `"}`,
	} {
		newBench(t, logger, func(o *api.Options) { o.Submitter = refusing{err: errors.New(text)} }).do("POST", "/v1/jobs", payload).want(t, 500)
	}
	newBench(t, logger, func(o *api.Options) { o.Submitter = panicking{} }).do("POST", "/v1/jobs", payload).want(t, 500)
	if strings.Contains(log.String(), canary) {
		t.Errorf("the log leaks:\n%s", log.String())
	}
	for _, want := range []string{"route=/v1/jobs ", "route=/v1/jobs/{id} ", "status=201", "status=404", "status=500", "method=POST", "method=other", "duration=", `msg="api: panic"`, "dial postgres://xxx@h/db?xxx"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %q:\n%s", want, log.String())
		}
	}
}

// endless is a body that counts what is read of it.
type endless struct {
	head io.Reader
	read int64
}

func (e *endless) Read(p []byte) (int, error) {
	n, err := e.head.Read(p)
	if err == io.EOF {
		n, err = len(p), nil
		for i := range p {
			p[i] = 'x'
		}
	}
	e.read += int64(n)
	return n, err
}

// The limit holds while reading, whatever length is claimed.
func TestBodyLimitHoldsWhileReading(t *testing.T) {
	b := newBench(t, func(o *api.Options) { o.Submitter = refusing{} })
	for path, limit := range map[string]int64{"/v1/jobs": 1<<20 + 64<<10, "/v1/jobs/batch": 32 << 20, "/v1/jobs/1/cancel": 1<<20 + 64<<10} {
		body := &endless{head: strings.NewReader(`{"type":"echo","payload":"`)}
		r := httptest.NewRequestWithContext(t.Context(), "POST", path, body)
		r.Header.Set("Content-Type", "application/json")
		r.ContentLength = -1
		w := httptest.NewRecorder()
		b.api.ServeHTTP(w, r)
		checkProblem(t, Writer{w.Code, w.Result().Header, w.Body.String()})
		if w.Code != http.StatusRequestEntityTooLarge || body.read > limit+1<<20 {
			t.Errorf("%s: status %d after %d bytes", path, w.Code, body.read)
		}
		body = &endless{head: strings.NewReader("")}
		r.Body, r.ContentLength = io.NopCloser(body), 300<<20
		w = httptest.NewRecorder()
		b.api.ServeHTTP(w, r)
		if w.Code != http.StatusRequestEntityTooLarge || body.read != 0 {
			t.Errorf("%s: status %d, %d bytes read of a body that says it is too large", path, w.Code, body.read)
		}
	}
}

// A body that never ends is given up; one that is cut off is no job. Both over a real connection.
func TestBodyThatDoesNotArrive(t *testing.T) {
	b := newBench(t, func(o *api.Options) { o.Limits.BodyTime = 50 * time.Millisecond })
	server := httptest.NewServer(b.api)
	defer server.Close()
	for name, row := range map[string]struct {
		path   string
		cut    bool
		status string
	}{
		"stalls": {"/v1/jobs", false, "408 Request Timeout"}, "ends early": {"/v1/jobs", true, "400 Bad Request"},
		"stalls unread": {"/v1/nowhere", false, "404 Not Found"},
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"type\":", row.path, server.Listener.Addr())
		if row.cut {
			if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
		}
		text, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 "+row.status) || !strings.Contains(string(text), "application/problem+json") {
			t.Errorf("%s: %v: %s", name, err, text)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	if list := b.do("GET", "/v1/jobs", ""); !strings.Contains(list.body, `"items":[]`) {
		t.Errorf("something was written: %s", list.body)
	}
}

// The time for the body bounds its arrival only: work that takes longer goes on.
func TestWorkOutlivesTheBodyTime(t *testing.T) {
	b := newBench(t, func(o *api.Options) { o.Limits.BodyTime = 20 * time.Millisecond; o.Submitter = slow{o.Submitter} })
	server := httptest.NewServer(b.api)
	defer server.Close()
	res, err := http.Post(server.URL+"/v1/jobs", "application/json", strings.NewReader(`{"type":"echo"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusCreated {
		t.Errorf("status %d", res.StatusCode)
	}
}

// slow is a submitter that answers once the body's time is over.
type slow struct{ call.Submitter }

func (s slow) Write(ctx context.Context, j core.CheckedJob) (core.Submitted, error) {
	select {
	case <-ctx.Done():
		return core.Submitted{}, context.Cause(ctx)
	case <-time.After(60 * time.Millisecond):
	}
	return s.Submitter.Write(ctx, j)
}

// A browser of the same origin, and programs that are no browser, may change things.
func TestSameOrigin(t *testing.T) {
	b := newBench(t)
	for _, header := range [][]string{nil, {"Sec-Fetch-Site", "same-origin"}, {"Origin", "http://example.com"}} {
		b.do("POST", "/v1/jobs", `{"type":"echo"}`, header...).want(t, http.StatusCreated)
	}
	b.do("GET", "/v1/jobs", "", "Sec-Fetch-Site", "cross-site").want(t, http.StatusOK)
}

func TestTraceparent(t *testing.T) {
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	b := newBench(t)
	for header, want := range map[string]string{trace: trace, "00-nonsense": ""} {
		a := b.do("POST", "/v1/jobs", `{"type":"echo"}`, "Traceparent", header).want(t, http.StatusCreated)
		var id int64
		if _, err := fmt.Sscan(decode[job](t, a).ID, &id); err != nil {
			t.Fatal(err)
		}
		if j, err := b.store.Get(t.Context(), id); err != nil || j.Trace != want {
			t.Errorf("%s: kept %q, %v", header, j.Trace, err)
		}
	}
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	if _, err := api.New(api.Options{}); err == nil || !strings.Contains(err.Error(), "Submitter, Jobs and Stats") {
		t.Errorf("%v", err)
	}
}
