package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/client"
)

// script answers requests in order. Its steps are "done" (a job), "lost" (the answer is lost), "dial" (no connection) and a
// status, with or without "+seconds" of Retry-After.
type script struct {
	steps []string
	keys  []string // Idempotency-Key of each request
	at    []time.Time
}

const jobBody = `{"id":"7","status":"scheduled","run_at":"2026-01-02T03:04:05.000000Z","created_at":"2026-01-02T03:04:05.000000Z"}`

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
	}
	if r.Header.Get("Authorization") != "Bearer t0ken" {
		return nil, errors.New("no token")
	}
	step := s.steps[min(len(s.keys), len(s.steps)-1)]
	s.keys, s.at = append(s.keys, r.Header.Get("Idempotency-Key")), append(s.at, time.Now())
	answer := func(status int, body string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
	status, after, _ := strings.Cut(step, "+")
	switch status {
	case "done":
		return answer(http.StatusOK, jobBody)
	case "lost":
		return nil, io.ErrUnexpectedEOF
	case "dial":
		return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	}
	var n int
	if err := json.Unmarshal([]byte(status), &n); err != nil {
		return nil, err
	}
	resp, err := answer(n, `{"detail":"no","status":`+status+`}`)
	if after != "" {
		resp.Header.Set("Retry-After", after)
	}
	return resp, err
}

func (s *script) client(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New("http://belfry.invalid/pr3fix", client.Options{
		Token: "t0ken", HTTPClient: &http.Client{Transport: s},
		Retry: client.Retry{Tries: 4, MinWait: time.Second, MaxWait: 20 * time.Second, Chance: func() float64 { return 1 }},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWhatIsTriedAgain(t *testing.T) {
	get := func(ctx context.Context, c *client.Client) error { _, err := c.Get(ctx, "7"); return err }
	submit := func(ctx context.Context, c *client.Client) error {
		_, err := c.Submit(ctx, client.NewJob{Type: "a"})
		return err
	}
	cancel := func(ctx context.Context, c *client.Client) error { _, err := c.Cancel(ctx, "7"); return err }
	for _, c := range []struct {
		name  string
		do    func(context.Context, *client.Client) error
		steps string
		sent  int
		took  time.Duration
		want  error
		not   error
	}{
		{"read after a lost answer", get, "lost dial 503 done", 4, 7 * time.Second, nil, nil},
		{"read, tries used up", get, "502", 4, 7 * time.Second, client.ErrUnreachable, client.ErrUnknown},
		{"read, out of order in every way", get, "408 523 527 done", 4, 7 * time.Second, nil, nil},
		{"read, 408 for good", get, "408", 4, 7 * time.Second, client.ErrUnreachable, client.ErrUnknown},
		{"read, 519 is no word of a proxy", get, "519 done", 1, 0, errAny, client.ErrUnreachable},
		{"read, 528 is no word of a proxy", get, "528 done", 1, 0, errAny, client.ErrUnreachable},
		{"submit with its key, through a proxy", submit, "520 524 408 done", 4, 7 * time.Second, nil, nil},
		{"submit with its key, lost and then out of order", submit, "lost 408", 4, 7 * time.Second, client.ErrUnknown, nil},
		{"cancel, a proxy's fault", cancel, "522 done", 1, 0, client.ErrUnknown, nil},
		{"cancel, 408", cancel, "408 done", 1, 0, client.ErrUnreachable, client.ErrUnknown},
		{"read, Retry-After honoured", get, "429+9 503+3 done", 3, 12 * time.Second, nil, nil},
		{"read, Retry-After too far", get, "503+21 done", 1, 0, client.ErrUnreachable, nil},
		{"read, absent", get, "404 done", 1, 0, client.ErrNotFound, client.ErrUnreachable},
		{"read, a fault inside", get, "500 done", 1, 0, errAny, client.ErrUnreachable},
		{"submit with its key", submit, "lost 503 done", 3, 3 * time.Second, nil, nil},
		{"submit with its key, still at work", submit, "lost 409+1 409+1 409+1 409+1 409+1 409+1 done", 8, 7 * time.Second, nil, nil},
		{"submit with its key, at work for ever", submit, "lost 409+9", 1 + 9 + 3, (1 + 9*9 + 9*2) * time.Second, client.ErrUnknown, client.ErrInvalid},
		{"submit, another conflict", submit, "409 done", 1, 0, client.ErrConflict, client.ErrUnknown},
		{"submit with its key, never answered", submit, "lost", 4, 7 * time.Second, client.ErrUnknown, nil},
		{"submit with its key, refused at last", submit, "lost 422", 2, time.Second, client.ErrInvalid, client.ErrUnknown},
		{"cancel after a lost answer", cancel, "lost done", 1, 0, client.ErrUnknown, nil},
		{"cancel, out of order", cancel, "503 done", 1, 0, client.ErrUnknown, nil},
		{"cancel, never sent", cancel, "dial dial done", 3, 3 * time.Second, nil, nil},
		{"cancel, no connection", cancel, "dial", 4, 7 * time.Second, client.ErrUnreachable, client.ErrUnknown},
		{"cancel, throttled", cancel, "429+1 done", 2, time.Second, nil, nil},
		{"cancel, conflict", cancel, "409+1 done", 1, 0, client.ErrConflict, client.ErrUnknown},
		{"a redirect is not followed", get, "307 done", 1, 0, errAny, client.ErrUnreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{steps: strings.Fields(c.steps)}
				cl, start := s.client(t), time.Now()
				err := c.do(t.Context(), cl)
				if any := errors.Is(c.want, errAny); any && err == nil || !any && !errors.Is(err, c.want) {
					t.Errorf("error %v, want %v", err, c.want)
				}
				if c.not != nil && errors.Is(err, c.not) {
					t.Errorf("error %v is %v", err, c.not)
				}
				if err != nil && (strings.Contains(err.Error(), "t0ken") || strings.Contains(err.Error(), "pr3fix")) {
					t.Errorf("says too much: %v", err)
				}
				if len(s.keys) != c.sent || time.Since(start) != c.took {
					t.Errorf("%d requests in %s, want %d in %s", len(s.keys), time.Since(start), c.sent, c.took)
				}
			})
		})
	}
}

var errAny = errors.New("any")

func TestTriesCarryOneKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: strings.Fields("lost 503 done")}
		c := s.client(t)
		for range 2 {
			if _, err := c.Submit(t.Context(), client.NewJob{Type: "a"}); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.keys) != 4 || s.keys[0] == "" || s.keys[0] != s.keys[1] || s.keys[1] != s.keys[2] || s.keys[2] == s.keys[3] {
			t.Errorf("keys %q", s.keys)
		}
		if _, err := c.Submit(t.Context(), client.NewJob{Type: "a", IdempotencyKey: "mine"}); err != nil || s.keys[4] != "mine" {
			t.Errorf("keys %q, %v", s.keys, err)
		}
	})
}

func TestCtxEndsTheWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: []string{"lost"}}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := s.client(t).Submit(ctx, client.NewJob{Type: "a"})
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, client.ErrUnknown) || time.Since(start) != 1500*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

func TestAnswersOfSomethingElse(t *testing.T) {
	for _, body := range []string{"<html>", "", "[]", `{"hello":1}`, `{"id":""}`, `{"id":"1","timeout":"soon"}`} {
		c, err := client.New("http://h", client.Options{HTTPClient: &http.Client{Transport: tripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})}})
		if err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		if _, err := c.Get(ctx, "1"); err == nil {
			t.Errorf("%q is a job", body)
		}
		if _, err := c.SubmitBatch(ctx, []client.NewJob{{Type: "a"}}); err == nil {
			t.Errorf("%q answers a batch", body)
		}
		if _, err := c.Stats(ctx); err == nil {
			t.Errorf("%q is statistics", body)
		}
		if _, err := c.Redrive(ctx, client.DeadFilter{All: true}, 0); err == nil {
			t.Errorf("%q answers a redrive", body)
		}
		if _, err := c.Discard(ctx, client.DeadFilter{All: true}, 0); err == nil {
			t.Errorf("%q answers a discard", body)
		}
		for _, err := range c.List(ctx, client.Filter{}) {
			if err == nil {
				t.Errorf("%q is a page", body)
			}
		}
		if _, _, err := c.PutType(ctx, client.JobType{Type: "a"}); !errors.Is(err, client.ErrForeign) {
			t.Errorf("%q is a definition: %v", body, err)
		}
		for name, err := range map[string]error{"ready": c.Ready(ctx), "delete": c.DeleteType(ctx, "a"), "revoke": c.RevokeToken(ctx, "a")} {
			if !errors.Is(err, client.ErrForeign) {
				t.Errorf("%q answers %s: %v", body, name, err)
			}
		}
		if _, err := c.Heartbeat(ctx, "1", "t"); !errors.Is(err, client.ErrForeign) {
			t.Errorf("%q answers a heartbeat: %v", body, err)
		}
		if _, err := c.Fail(ctx, "1", "t", client.Failure{Error: "x"}); !errors.Is(err, client.ErrForeign) {
			t.Errorf("%q answers a fail: %v", body, err)
		}
	}
}

// A list whose pages form a cycle ends, and so does an endless answer.
func TestListsAndAnswersEnd(t *testing.T) {
	for name, answer := range map[string]*http.Response{
		"a page that leads to itself":    {Body: io.NopCloser(strings.NewReader(`{"items":[],"next_cursor":"same"}`))},
		"an answer that says it is huge": {Body: http.NoBody, ContentLength: 1 << 40},
		"an answer that is huge":         {Body: io.NopCloser(io.LimitReader(spaces{}, 1<<30)), ContentLength: -1},
		"an item that is none":           {Body: io.NopCloser(strings.NewReader(`{"items":[null],"next_cursor":""}`))},
	} {
		t.Run(name, func(t *testing.T) {
			answered := 0
			c := newClient(t, "http://belfry.invalid", tripper(func(r *http.Request) (*http.Response, error) {
				if answered++; answered > 9 {
					return nil, errors.New("asked on and on")
				}
				whole := *answer
				if name == "a page that leads to itself" {
					whole.Body = io.NopCloser(strings.NewReader(`{"items":[],"next_cursor":"same"}`))
				}
				whole.StatusCode, whole.Request = http.StatusOK, r
				return &whole, nil
			}))
			for _, err := range c.List(t.Context(), client.Filter{}) {
				if !errors.Is(err, client.ErrForeign) || answered > 2 {
					t.Errorf("%v after %d answers", err, answered)
				}
			}
		})
	}
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestErrorsHaveTheirStatus(t *testing.T) {
	for status, want := range map[int][]error{
		400: {client.ErrInvalid}, 401: {client.ErrAccess, client.ErrUnauthorized}, 403: {client.ErrAccess, client.ErrForbidden}, 404: {client.ErrNotFound},
		409: {client.ErrConflict}, 412: {client.ErrChanged}, 413: {client.ErrInvalid}, 415: {client.ErrInvalid}, 422: {client.ErrInvalid},
		429: {client.ErrThrottled}, 500: {}, 502: {client.ErrUnreachable}, 503: {client.ErrUnreachable}, 504: {client.ErrUnreachable}, 307: {},
		408: {client.ErrUnreachable}, 520: {client.ErrUnreachable}, 523: {client.ErrUnreachable}, 527: {client.ErrUnreachable}, 519: {}, 528: {},
	} {
		c := newClient(t, "http://belfry.invalid", tripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(`{"detail":"why","status":1}`)), Request: r}, nil
		}))
		_, err := c.Get(t.Context(), "1")
		var p *client.Problem
		if !errors.As(err, &p) || p.Status != status || p.Detail != "why" {
			t.Errorf("%d: %v", status, err)
		}
		for _, sentinel := range []error{client.ErrInvalid, client.ErrAccess, client.ErrUnauthorized, client.ErrForbidden, client.ErrNotFound, client.ErrConflict, client.ErrChanged, client.ErrThrottled, client.ErrUnreachable, client.ErrForeign, client.ErrUnknown} {
			if is := errors.Is(err, sentinel); is != slices.Contains(want, sentinel) {
				t.Errorf("%d: is %q %t", status, sentinel, is)
			}
		}
	}
}
