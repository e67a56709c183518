package webhooktest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belfry-dev/belfry/adapters/webhook"
)

// delivery is one request as a receiver had it.
type delivery struct {
	id, token, attempt string
	path               string
	header             http.Header
	body               string
}

// receiver is a target: it verifies each delivery by the library of Standard Webhooks and keeps it.
type receiver struct {
	t testing.TB
	*httptest.Server
	mu  sync.Mutex
	got []delivery
	in  chan delivery // each is told here too
}

// receive starts a receiver; answer answers what was verified.
func receive(t testing.TB, answer func(w http.ResponseWriter, d delivery)) *receiver {
	t.Helper()
	return receiveAt(t, nil, answer)
}

// receiveAt is receive on a listener; nil means a free port.
func receiveAt(t testing.TB, listener net.Listener, answer func(w http.ResponseWriter, d delivery)) *receiver {
	t.Helper()
	r := &receiver{t: t, in: make(chan delivery, 1000)}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err == nil {
			err = verify(body, req.Header)
		}
		if err != nil {
			t.Errorf("a delivery that does not verify: %v", err)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h := req.Header
		d := delivery{h.Get("Belfry-Job-Id"), h.Get("Belfry-Lease-Token"), h.Get("Belfry-Attempt"), req.URL.Path, h.Clone(), string(body)}
		r.mu.Lock()
		r.got = append(r.got, d)
		r.mu.Unlock()
		select {
		case r.in <- d:
		default:
		}
		answer(w, d)
	}))
	if listener != nil {
		r.Listener.Close()
		r.Listener = listener
	}
	r.Start()
	t.Cleanup(r.Close)
	return r
}

// verify verifies a delivery by the secret of the tenant and the type that its headers name.
func verify(body []byte, h http.Header) error {
	if !regexp.MustCompile(`^msg_[a-z0-9]{16}_` + h.Get("Belfry-Job-Id") + `$`).MatchString(h.Get("Webhook-Id")) {
		return fmt.Errorf("webhook-id %s of job %s", h.Get("Webhook-Id"), h.Get("Belfry-Job-Id"))
	}
	tenant, err := url.PathUnescape(h.Get("Belfry-Tenant"))
	if err != nil {
		return err
	}
	own, err := webhook.DeriveSecret(secret, tenant, h.Get("Belfry-Type"))
	if err != nil {
		return err
	}
	verifier, err := standardwebhooks.NewWebhook(own)
	if err != nil {
		return err
	}
	return verifier.Verify(body, h)
}

// status answers with a status alone.
func status(code int) func(http.ResponseWriter, delivery) {
	return func(w http.ResponseWriter, _ delivery) { w.WriteHeader(code) }
}

// all are the deliveries so far.
func (r *receiver) all() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]delivery(nil), r.got...)
}

// next waits for a delivery that was not waited for yet.
func (r *receiver) next() delivery {
	r.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case d := <-r.in:
		return d
	case <-timer.C:
		r.t.Fatal("no delivery in time")
	}
	return delivery{}
}

// listen serves a handler on this machine and returns its URL.
func listen(t testing.TB, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return server.URL
}
