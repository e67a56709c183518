package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// delivered is what a receiver needs to report on an attempt.
type delivered struct{ id, token string }

// receiver answers every delivery with 202 and passes it to the test.
func receiver() (server *httptest.Server, deliveries chan delivered) {
	deliveries = make(chan delivered, 10)
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		deliveries <- delivered{r.Header.Get("Belfry-Job-Id"), r.Header.Get("Belfry-Lease-Token")}
	})), deliveries
}

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr"

func TestReceiversReport(t *testing.T) {
	t.Setenv("BELFRY_WEBHOOK_SECRETS", webhookSecret)
	t.Setenv("BELFRY_WEBHOOK_ALLOW", "127.0.0.1")
	address := nodetest.Start(t, "all")
	server, deliveries := receiver()
	t.Cleanup(server.Close)
	c := newClient(t, address, nil)
	l := &loser{}
	reporter := newClient(t, l.start(t, address), nil)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	accepted := func() delivered {
		t.Helper()
		if _, err := c.Submit(ctx, client.NewJob{Type: "slow", Target: &client.Target{URL: server.URL}, MaxAttempts: 3}); err != nil {
			t.Fatal(err)
		}
		select {
		case d := <-deliveries:
			return d
		case <-ctx.Done():
			t.Fatal("nothing was delivered")
			return delivered{}
		}
	}

	d := accepted()
	if e, err := reporter.Heartbeat(ctx, d.id, d.token); err != nil || e.CancelWanted || !e.LeaseUntil.After(time.Now()) {
		t.Errorf("%+v, %v", e, err)
	}
	l.left.Store(2) // the first two answers are lost
	result := json.RawMessage(`{ "n": 1e5, "é": "<&>" }`)
	if status, err := reporter.Complete(ctx, d.id, d.token, result); err != nil || status != client.Done {
		t.Errorf("%s, %v", status, err)
	}
	if job, err := c.Get(ctx, d.id); err != nil || job.Status != client.Done || string(job.Result) != string(result) {
		t.Errorf("%+v, %v", job, err)
	}
	if _, err := reporter.Heartbeat(ctx, d.id, d.token); !errors.Is(err, client.ErrConflict) {
		t.Errorf("a stale token: %v", err)
	}

	for want, f := range map[client.Status]client.Failure{
		client.Scheduled: {Error: "not yet", RetryAfter: time.Hour},
		client.Failed:    {Error: "never", Permanent: true},
	} {
		d := accepted()
		if status, err := reporter.Fail(ctx, d.id, d.token, f); err != nil || status != want {
			t.Errorf("%+v: %s, %v", f, status, err)
		}
		if job, err := c.Get(ctx, d.id); err != nil || job.Status != want || len(job.Errors) != 1 || job.Errors[0].Error != f.Error {
			t.Errorf("%+v, %v", job, err)
		}
	}

	d = accepted()
	for name, err := range map[string]error{
		"no token of this installation": second(reporter.Heartbeat(ctx, d.id, "blt1_x")),
		"no error":                      second(reporter.Fail(ctx, d.id, d.token, client.Failure{})),
		"permanent and again":           second(reporter.Fail(ctx, d.id, d.token, client.Failure{Error: "x", Permanent: true, RetryAfter: 1})),
	} {
		if !errors.Is(err, client.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := reporter.Complete(ctx, "999", d.token, nil); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("of another job: %v", err)
	}
	if _, err := reporter.Complete(ctx, d.id, d.token, json.RawMessage("{")); !errors.As(err, new(client.FieldErrors)) {
		t.Errorf("a result that is not JSON: %v", err)
	}
	if got, err := c.Cancel(ctx, d.id); err != nil || !got.CancelWanted {
		t.Errorf("%+v, %v", got, err)
	}
	if e, err := reporter.Heartbeat(ctx, d.id, d.token); err != nil || !e.CancelWanted {
		t.Errorf("%+v, %v", e, err)
	}
	if status, err := reporter.Fail(ctx, d.id, d.token, client.Failure{Error: "stopped"}); err != nil || status != client.Cancelled {
		t.Errorf("%s, %v", status, err)
	}
}
