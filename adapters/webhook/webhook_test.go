package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belfry-dev/belfry/core"
)

func TestDeliveryCarriesWhatTheContractSays(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"ok": 1e5}`) })
	w := newWebhook(t, Options{Guard: loopback(t), JobID: func(_ context.Context, id int64) string { return fmt.Sprint("msg_x_", id) }})
	job := jobFor(r)
	job.Trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	job.Attempts = 2
	job.Target = json.RawMessage(`{"url":"` + r.URL + `/in?q=1","headers":{"Authorization":"Bearer x","x-a":"b","x-empty":"","content-type":"application/cloudevents+json"}}`)
	result, err := w.Work(t.Context(), job)
	if err != nil || string(result) != `{"ok": 1e5}` {
		t.Fatalf("result %s, %v", result, err)
	}
	got := r.request(0)
	if got.method != "POST" || got.path != "/in?q=1" || !bytes.Equal(got.body, job.Payload) {
		t.Errorf("%s %s %s", got.method, got.path, got.body)
	}
	for name, want := range map[string]string{
		"webhook-id": "msg_x_42", "belfry-job-id": "42", "belfry-type": "hook", "belfry-tenant": "", "belfry-schedule": "", "belfry-attempt": "2", "belfry-max-attempts": "5", "belfry-scheduled-for": "2026-03-04T05:06:07.000089Z",
		"traceparent": job.Trace, "authorization": "Bearer x", "x-a": "b", "content-type": "application/cloudevents+json", "user-agent": "Belfry",
		"accept-encoding": "", "idempotency-key": "", "content-length": "9",
	} {
		if have := got.header.Get(name); have != want {
			t.Errorf("%s: %q, want %q", name, have, want)
		}
	}
	if have, sent := got.header["X-Empty"]; !sent || len(have) != 1 || have[0] != "" {
		t.Errorf("the header with an empty value arrives as %q, sent: %t", have, sent)
	}
	ref, err := w.Leases().Open(t.Context(), got.header.Get("belfry-lease-token"))
	if err != nil || ref != (core.Ref{ID: 42, Token: 7}) {
		t.Errorf("lease token of %+v, %v", ref, err)
	}
	verifier, err := standardwebhooks.NewWebhook(testSecret)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(got.body, got.header); err != nil {
		t.Error(err)
	}
}

// All attempts have the same webhook-id, but each has its own signature, timestamp and lease token.
func TestEachAttemptIsSignedAfresh(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	now := time.Now().Add(-time.Minute)
	w := newWebhook(t, Options{Guard: loopback(t), Now: func() time.Time { return now }})
	job := jobFor(r)
	for range 2 {
		if _, err := w.Work(t.Context(), job); err == nil {
			t.Fatal("a 500 was taken for success")
		}
		job.Attempts++
		job.LeaseToken++
		now = now.Add(30 * time.Second)
	}
	first, second := r.request(0).header, r.request(1).header
	if first.Get("webhook-id") != second.Get("webhook-id") {
		t.Error("webhook-id changed")
	}
	for _, name := range []string{"webhook-timestamp", "webhook-signature", "belfry-lease-token", "belfry-attempt"} {
		if first.Get(name) == second.Get(name) {
			t.Errorf("%s is %q at both attempts", name, first.Get(name))
		}
	}
}

func TestAbsentPayloadIsAnEmptyObject(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {})
	w := newWebhook(t, Options{Guard: loopback(t)})
	job := jobFor(r)
	job.Payload = nil
	if _, err := w.Work(t.Context(), job); err != nil || string(r.request(0).body) != "{}" {
		t.Errorf("body %q, %v", r.request(0).body, err)
	}
}

// A redirect is a failed attempt. Its destination never gets a request.
func TestRedirectsAreNotFollowed(t *testing.T) {
	inner := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {})
	for _, code := range []int{300, 301, 302, 303, 304, 307, 308, 399} {
		outer := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", inner.URL+"/latest/meta-data/")
			w.Header().Set("Refresh", "0;url="+inner.URL)
			w.WriteHeader(code)
		})
		w := newWebhook(t, Options{Guard: loopback(t)})
		_, err := w.Work(t.Context(), jobFor(outer))
		if err == nil || core.IsPermanent(err) || !strings.Contains(err.Error(), "redirects are not followed") {
			t.Errorf("%d: %v", code, err)
		}
		if outer.hits() != 1 {
			t.Errorf("%d: %d requests", code, outer.hits())
		}
	}
	if inner.hits() != 0 {
		t.Errorf("the place it leads to was asked %d times", inner.hits())
	}
}

func TestConnectionsAreReused(t *testing.T) {
	status := http.StatusOK
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, strings.Repeat("x", 20_000))
	})
	w := newWebhook(t, Options{Guard: loopback(t)})
	for _, status = range []int{200, 404, 500, 302, 202, 200} {
		_, _ = w.Work(t.Context(), jobFor(r))
	}
	if r.hits() != 6 || r.connections() != 1 {
		t.Errorf("%d requests over %d connections", r.hits(), r.connections())
	}
}

// A server that closed an idle connection costs no attempt: the request is sent again over a new one.
func TestClosedIdleConnectionCostsNoAttempt(t *testing.T) {
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) {})
	w := newWebhook(t, Options{Guard: loopback(t)})
	for i := range 20 {
		if _, err := w.Work(t.Context(), jobFor(r)); err != nil {
			t.Fatalf("delivery %d: %v", i, err)
		}
		r.CloseClientConnections()
	}
}

func TestTLSIsVerified(t *testing.T) {
	r := startReceiver(t, func(http.ResponseWriter, *http.Request) {})
	r.EnableHTTP2 = true
	r.StartTLS()
	stranger := newWebhook(t, Options{Guard: loopback(t)})
	if _, err := stranger.Work(t.Context(), jobFor(r)); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate was accepted: %v", err)
	}
	friend := newWebhook(t, Options{Guard: loopback(t), TLS: r.Client().Transport.(*http.Transport).TLSClientConfig})
	if _, err := friend.Work(t.Context(), jobFor(r)); err != nil || r.request(0).proto != 2 {
		t.Errorf("HTTP/%d, %v", r.request(0).proto, err)
	}
}

// A proxy from the environment would connect where the guard cannot check.
func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	w := newWebhook(t, Options{Guard: loopback(t)})
	if w.transport.Proxy != nil {
		t.Error("the transport has a proxy")
	}
}

// A cancel, a stop or a lost lease ends the delivery with its cause, which decides the job's end.
func TestEndOfTheAttemptEndsTheDelivery(t *testing.T) {
	for _, cause := range []error{core.ErrCancelWanted, core.ErrStopping, core.ErrLeaseLost, core.ErrTimeout} {
		ctx, cancel := context.WithCancelCause(t.Context())
		release := make(chan struct{})
		r := newReceiver(t, func(_ http.ResponseWriter, req *http.Request) {
			cancel(cause)
			<-release
		})
		w := newWebhook(t, Options{Guard: loopback(t)})
		_, err := w.Work(ctx, jobFor(r))
		close(release)
		if !errors.Is(err, cause) || core.IsPermanent(err) {
			t.Errorf("%v: %v", cause, err)
		}
	}
}

func TestConcurrentDeliveries(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) { fmt.Fprint(w, req.Header.Get("webhook-id")) })
	w := newWebhook(t, Options{Guard: loopback(t), PerHost: 8, PerWait: time.Minute})
	var wait sync.WaitGroup
	for id := range int64(8) {
		wait.Go(func() {
			for n := range int64(25) {
				job := jobFor(r)
				job.ID = 1 + id*100 + n
				if result, err := w.Work(t.Context(), job); err != nil || string(result) != fmt.Sprint(job.ID) {
					t.Errorf("job %d: %s, %v", job.ID, result, err)
				}
			}
		})
	}
	wait.Wait()
	if r.connections() > 16 { // each may dial one in vain, if another became free first
		t.Errorf("%d connections for 8 deliveries at once", r.connections())
	}
	if n := len(w.admission.hosts) + len(w.admission.endpoints) + len(w.admission.tenants); n != 0 {
		t.Errorf("%d hosts, endpoints and tenants remembered", n)
	}
}

func TestWrongOptionsStopTheStart(t *testing.T) {
	key := bytes.Repeat([]byte("k"), 32)
	for name, opts := range map[string]Options{
		"no secret":        {LeaseKeys: [][]byte{key}},
		"no lease key":     {Secrets: []string{testSecret}},
		"short lease key":  {Secrets: []string{testSecret}, LeaseKeys: [][]byte{key[:31]}},
		"negative perhost": {Secrets: []string{testSecret}, LeaseKeys: [][]byte{key}, PerHost: -1},
	} {
		if _, err := New(opts); err == nil || !strings.HasPrefix(err.Error(), "webhook: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
