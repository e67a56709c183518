package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// quick retries without delaying a test.
var quick = client.Retry{Tries: 3, MinWait: time.Millisecond, MaxWait: time.Minute, Timeout: 30 * time.Second}

func newClient(t *testing.T, address string, trip http.RoundTripper) *client.Client {
	t.Helper()
	if trip == nil {
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		trip = transport
	}
	c, err := client.New(address, client.Options{HTTPClient: &http.Client{Transport: trip}, Retry: quick})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSubmitWaitGet(t *testing.T) {
	c := newClient(t, nodetest.Start(t, "all"), nil)
	payload := json.RawMessage("{ \"a\" : 1e5, \"html\": \"<&>\",\n\"b\": -0 }")
	job, err := c.Submit(t.Context(), client.NewJob{
		Type: "echo", Payload: payload, Priority: client.Critical, Tenant: "ac/me %20 🎉", Tags: []string{`quo"te`},
		Timeout: 90 * time.Second, Backoff: []time.Duration{time.Second, 2 * time.Minute}, MaxAttempts: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	if job.Tenant != "ac/me %20 🎉" || job.Timeout != 90*time.Second || len(job.Backoff) != 2 || job.MaxAttempts != 3 || job.CreatedAt.IsZero() {
		t.Errorf("%+v", job)
	}
	done, err := c.Wait(t.Context(), job.ID)
	if err != nil {
		t.Fatal(err)
	}
	if done.Status != client.Done || string(done.Payload) != string(payload) || string(done.Result) != string(payload) {
		t.Errorf("%s, payload %s, result %s", done.Status, done.Payload, done.Result)
	}
	if !json.Valid(done.Document()) || !strings.Contains(string(done.Document()), string(payload)) {
		t.Errorf("document %s", done.Document())
	}
}

func TestWaitReturnsWhatItSawLast(t *testing.T) {
	c := newClient(t, nodetest.Start(t, "api"), nil)
	job, err := c.Submit(t.Context(), client.NewJob{Type: "echo", Delay: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	seen, err := c.Wait(ctx, job.ID)
	if err == nil || ctx.Err() == nil { // the deadline may pass during the first request
		t.Errorf("%+v, %v", seen, err)
	}
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, client.ErrUnreachable) {
		t.Errorf("error %v", err)
	}
}

func TestErrorsAreTyped(t *testing.T) {
	c := newClient(t, nodetest.Start(t, "api"), nil)
	ctx := t.Context()
	if _, err := c.Get(ctx, "123456"); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("absent: %v", err)
	}
	for _, id := range []string{"", ".", "..", "a/b", "1?x=y", "%2e", "0", "\n"} {
		if _, err := c.Get(ctx, id); !errors.Is(err, client.ErrInvalid) {
			t.Errorf("id %q: %v", id, err)
		}
	}
	_, err := c.Submit(ctx, client.NewJob{Type: "no good", MaxAttempts: 1000})
	var fields client.FieldErrors
	if !errors.Is(err, client.ErrInvalid) || !errors.As(err, &fields) || len(fields) != 2 || fields[0].Field != "max_attempts" && fields[1].Field != "max_attempts" {
		t.Errorf("bad job: %v, %v", err, fields)
	}
	job, err := c.Submit(ctx, client.NewJob{Type: "echo", Delay: time.Hour, DedupeKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Submit(ctx, client.NewJob{Type: "echo", DedupeKey: "k"})
	if err != nil || !again.Duplicate || again.ID != job.ID {
		t.Errorf("same key: %+v, %v", again, err)
	}
	_, err = c.Retry(ctx, job.ID)
	var p *client.Problem
	if !errors.Is(err, client.ErrConflict) || !errors.As(err, &p) || p.Reason != "the job is scheduled" {
		t.Errorf("retry: %v", err)
	}
	if _, err := c.RescheduleIn(ctx, job.ID, 0); err != nil {
		t.Errorf("reschedule: %v", err)
	}
	if got, err := c.Cancel(ctx, job.ID); err != nil || got.Status != client.Cancelled {
		t.Errorf("cancel: %+v, %v", got, err)
	}
	if _, err := c.Reschedule(ctx, job.ID, time.Now()); !errors.Is(err, client.ErrConflict) {
		t.Errorf("reschedule: %v", err)
	}
}

func TestBatchListDeadLetters(t *testing.T) {
	c := newClient(t, nodetest.Start(t, "all"), nil)
	ctx := t.Context()
	tenant := "q\"% /🎉"
	var jobs []client.NewJob
	for i := range 12 {
		jobs = append(jobs, client.NewJob{Type: "fail", Payload: map[string]any{"permanent": true, "n": i}, Tenant: tenant})
	}
	jobs[5].Type = "no good"
	items, err := c.SubmitBatch(ctx, jobs)
	if err != nil || len(items) != len(jobs) {
		t.Fatalf("%d items, %v", len(items), err)
	}
	var ids []string
	for i, item := range items {
		if i == 5 {
			if !errors.Is(item.Err, client.ErrInvalid) || item.Job != nil {
				t.Errorf("item 5: %+v", item)
			}
			continue
		}
		if got := fmt.Sprintf(`{"n":%d,"permanent":true}`, i); item.Err != nil || string(item.Job.Payload) != got {
			t.Fatalf("item %d: %+v, want %s", i, item, got)
		}
		if failed, err := c.Wait(ctx, item.Job.ID); err != nil || failed.Status != client.Failed {
			t.Fatalf("%+v, %v", failed, err)
		}
		ids = append(ids, item.Job.ID)
	}
	n := 0
	for job, err := range c.List(ctx, client.Filter{Tenant: &tenant, Statuses: []client.Status{client.Failed, client.Done}, PageSize: 3}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; job.ID != ids[len(ids)-n] {
			t.Errorf("place %d is job %s, want %s", n, job.ID, ids[len(ids)-n])
		}
	}
	if n != 11 {
		t.Errorf("listed %d", n)
	}
	if _, err := c.Redrive(ctx, client.DeadFilter{}, 0); !errors.Is(err, client.ErrInvalid) {
		t.Errorf("redrive without a filter: %v", err)
	}
	var fields client.FieldErrors
	if _, err := c.Redrive(ctx, client.DeadFilter{Tenant: &tenant, IDs: []string{}}, 0); !errors.As(err, &fields) {
		t.Errorf("redrive of no ids: %v", err)
	}
	if _, err := c.Discard(ctx, client.DeadFilter{Tenant: &tenant, IDs: []string{}}, 0); !errors.As(err, &fields) {
		t.Errorf("discard of no ids: %v", err)
	}
	if r, err := c.Redrive(ctx, client.DeadFilter{IDs: ids[:2], Tenant: &tenant}, 5); err != nil || r.Redriven != 2 || len(r.Conflicts) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, id := range ids[:2] {
		if _, err := c.Wait(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	if gone, err := c.Discard(ctx, client.DeadFilter{Tenant: &tenant, FailedBefore: time.Now().Add(time.Hour)}, 10); err != nil || gone != 10 {
		t.Errorf("discarded %d, %v", gone, err)
	}
	left := 0
	for _, err := range c.DeadLetters(ctx, client.DeadFilter{Type: "fail"}) {
		if err != nil {
			t.Fatal(err)
		}
		left++
	}
	if left != 1 {
		t.Errorf("%d left, want 1", left)
	}
	stats, err := c.Stats(ctx)
	if err != nil || len(stats.Queues) != 3 || stats.Now.IsZero() {
		t.Errorf("%+v, %v", stats, err)
	}
}

// The batch has more jobs, and more bytes, than one request accepts.
func TestBatchIsSplit(t *testing.T) {
	var sizes []int
	var keys []string
	c := newClient(t, "http://belfry.invalid", tripper(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		n := strings.Count(string(body), `"type"`)
		sizes, keys = append(sizes, n), append(keys, r.Header.Get("Idempotency-Key"))
		answer := `{"items":[` + strings.Repeat(jobBody+",", n-1) + jobBody + `]}`
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
	}))
	submit := func(document string, n int, want ...int) {
		t.Helper()
		sizes, keys = nil, nil
		items, err := c.SubmitDocuments(t.Context(), slices.Repeat([]json.RawMessage{json.RawMessage(document)}, n), "run")
		if err != nil || len(items) != n || items[n-1].Job == nil {
			t.Fatalf("%d items, %v", len(items), err)
		}
		if !slices.Equal(sizes, want) {
			t.Errorf("parts of %v, want %v", sizes, want)
		}
		for i, key := range keys {
			if want := fmt.Sprintf("run-%d", i+1); key != want {
				t.Errorf("part %d has the key %q, want %q", i, key, want)
			}
		}
	}
	submit(`{"type":"later"}`, 10_001, 10_000, 1)
	submit(`{"type":"later","payload":"`+strings.Repeat("x", 6<<20)+`"}`, 5, 2, 2, 1)
	items, err := c.SubmitDocuments(t.Context(), []json.RawMessage{[]byte(`{"type":"a"}`), []byte(`{"type":"a"},{"type":"b"}`), []byte(`{"type":"a"}`)}, "")
	var fields client.FieldErrors
	if len(items) != 1 || !errors.As(err, &fields) || fields[0].Field != "jobs[1]" {
		t.Errorf("%d items, %v", len(items), err)
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNewRefusesBadAddresses(t *testing.T) {
	for _, address := range []string{"", "localhost:8080", "ftp://h", "http://", "http://user:secret@h", "http://h?x=1", "http://h#f", "http://h h"} {
		_, err := client.New(address, client.Options{})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, token := range []string{"a\r\nX: y", "ü", "a b"} {
		if _, err := client.New("http://h", client.Options{Token: token}); err == nil || strings.Contains(err.Error(), token) {
			t.Errorf("token %q: %v", token, err)
		}
	}
}
