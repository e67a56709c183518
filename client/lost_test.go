package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/internal/nodetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// loser is a proxy that loses answers: the server has answered, but the connection is cut before the answer or in the middle
// of it.
type loser struct {
	left atomic.Int64 // number of answers still to lose
	half bool         // cut after the first half of the body
	sent atomic.Int64 // requests that reached the server
}

func (l *loser) start(t *testing.T, server string) string {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, server+r.URL.RequestURI(), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		out.Header, out.ContentLength = r.Header.Clone(), r.ContentLength
		resp, err := transport.RoundTrip(out)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Error(err)
			return
		}
		l.sent.Add(1)
		if l.left.Add(-1) >= 0 {
			l.cut(t, w, body)
			return
		}
		w.WriteHeader(resp.StatusCode)
		if _, err := w.Write(body); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

func (l *loser) cut(t *testing.T, w http.ResponseWriter, body []byte) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	if l.half {
		if _, err := fmt.Fprintf(conn, "HTTP/1.1 201 Created\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:len(body)/2]); err != nil {
			t.Error(err)
		}
	}
	if err := conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// However many answers are lost, one job is created, even if it ends before the next try.
func TestLostAnswersMakeNoSecondJob(t *testing.T) {
	server := nodetest.Start(t, "all")
	direct := newClient(t, server, nil)
	for _, half := range []bool{false, true} {
		for name, submit := range map[string]func(*client.Client) (ids []string, err error){
			"submit": func(c *client.Client) ([]string, error) {
				job, err := c.Submit(t.Context(), client.NewJob{Type: "echo"})
				if err != nil {
					return nil, err
				}
				return []string{job.ID}, nil
			},
			"batch": func(c *client.Client) (ids []string, err error) {
				items, err := c.SubmitBatch(t.Context(), []client.NewJob{{Type: "echo"}, {Type: "echo"}, {Type: "echo"}})
				for _, item := range items {
					ids = append(ids, item.Job.ID)
				}
				return ids, err
			},
		} {
			t.Run(fmt.Sprintf("%s, half %t", name, half), func(t *testing.T) {
				before := countJobs(t, direct)
				l := &loser{half: half}
				l.left.Store(2) // of three tries
				ids, err := submit(newClient(t, l.start(t, server), nil))
				if err != nil || l.sent.Load() != 3 {
					t.Fatalf("%d requests, %v", l.sent.Load(), err)
				}
				if made := countJobs(t, direct) - before; made != len(ids) {
					t.Errorf("%d jobs, the answer names %v", made, ids)
				}
				for _, id := range ids {
					if job, err := direct.Wait(t.Context(), id); err != nil || job.Status != client.Done {
						t.Errorf("job %s: %+v, %v", id, job, err)
					}
				}
			})
		}
	}
}

// A submit without any answer is unknown; a call with the same key finds out, even long after the job has ended.
func TestTheKeyFindsOutLater(t *testing.T) {
	server := nodetest.Start(t, "all")
	direct := newClient(t, server, nil)
	l := &loser{}
	l.left.Store(3)
	lossy := newClient(t, l.start(t, server), nil)
	job := client.NewJob{Type: "echo", IdempotencyKey: "order-42"}
	if _, err := lossy.Submit(t.Context(), job); !errors.Is(err, client.ErrUnknown) {
		t.Fatal(err)
	}
	for made := range direct.List(t.Context(), client.Filter{}) {
		if _, err := direct.Wait(t.Context(), made.ID); err != nil {
			t.Fatal(err)
		}
	}
	again, err := lossy.Submit(t.Context(), job)
	if n := countJobs(t, direct); err != nil || n != 1 {
		t.Fatalf("%d jobs, %+v, %v", n, again, err)
	}
	job.Payload = 1
	if _, err := lossy.Submit(t.Context(), job); !errors.Is(err, client.ErrInvalid) {
		t.Errorf("the key of another job: %v", err)
	}
}

// A write without a key whose answer is lost is unknown, and is sent once.
func TestOtherWritesAreSentOnce(t *testing.T) {
	server := nodetest.Start(t, "api")
	job, err := newClient(t, server, nil).Submit(t.Context(), client.NewJob{Type: "later", Delay: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	l := &loser{}
	l.left.Store(1)
	if _, err := newClient(t, l.start(t, server), nil).Cancel(t.Context(), job.ID); !errors.Is(err, client.ErrUnknown) || l.sent.Load() != 1 {
		t.Errorf("%d requests, %v", l.sent.Load(), err)
	}
}

// A call that only reads has no unknown outcome after a lost answer, even if its method is POST.
func TestLostAnswersOfReadsLeaveNothingOpen(t *testing.T) {
	server := nodetest.Start(t, "api")
	if _, _, err := newClient(t, server, nil).PutSchedule(t.Context(), client.NewSchedule{Name: "nightly", Type: "echo", Rule: client.Rule{Cron: "@daily"}}, client.Condition{}); err != nil {
		t.Fatal(err)
	}
	l := &loser{}
	lossy := newClient(t, l.start(t, server), nil)
	day := time.Now().Truncate(24 * time.Hour)
	for name, read := range map[string]func() error{
		"preview": func() error {
			_, err := lossy.PreviewSchedule(t.Context(), client.Rule{Cron: "@daily"}, time.Time{}, 1)
			return err
		},
		"plan": func() error {
			_, err := lossy.PlanSchedule(t.Context(), "nightly", json.RawMessage(`{"cron":"@daily","type":"echo"}`))
			return err
		},
		"next": func() error { _, err := lossy.NextOccurrences(t.Context(), "", "nightly", 1); return err },
		"backfill, dry": func() error {
			_, err := lossy.BackfillSchedule(t.Context(), "", "nightly", day.Add(-72*time.Hour), day, true)
			return err
		},
		"redrive, dry": func() error {
			_, _, err := lossy.CountDead(t.Context(), client.DeadFilter{All: true}, "")
			return err
		},
	} {
		l.left.Store(3)
		if err := read(); !errors.Is(err, client.ErrUnreachable) || errors.Is(err, client.ErrUnknown) || strings.Contains(err.Error(), "may or may not") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Concurrent callers with one key wait for the first one and get its answer.
func TestOneKeyManyCallers(t *testing.T) {
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, nodetest.StartOn(t, "api", store), nil)
	const callers = 16
	documents := slices.Repeat([]json.RawMessage{json.RawMessage(`{"type":"later","delay":"1h"}`)}, 500) // these take a while
	firsts := make(chan string, callers)
	for range callers {
		go func() {
			items, err := c.SubmitDocuments(t.Context(), documents, "same")
			if err != nil {
				firsts <- err.Error()
				return
			}
			firsts <- items[0].Job.ID
		}()
	}
	seen := map[string]int{}
	for range callers {
		seen[<-firsts]++
	}
	if n := countJobs(t, c); len(seen) != 1 || n != len(documents) {
		t.Errorf("%d jobs, answers %v", n, seen)
	}
}

func countJobs(t *testing.T, c *client.Client) (n int) {
	t.Helper()
	for _, err := range c.List(t.Context(), client.Filter{PageSize: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
