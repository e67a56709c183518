package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/dnstest"
)

// routeTo returns the route of a job with this tenant and type to this URL.
func routeTo(tb testing.TB, w *Webhook, id int64, tenant, typ, url string) route {
	tb.Helper()
	job := &core.Job{ID: id, Tenant: tenant, Type: typ, Target: targetOf(url)}
	target, err := w.guard.parseTarget(job.Target)
	if err != nil {
		tb.Fatal(err)
	}
	return routeOf(target, job)
}

// Failing answers pause deliveries to the same URL with the same type and tenant, and no others of the host. Failing
// connections pause all deliveries to the same host, port and scheme.
func TestFailuresHoldBackTheirOwn(t *testing.T) {
	const bad = "https://h.example/in?shop=1"
	for name, c := range map[string]struct {
		tenant, typ, url string
		byAnswers        bool // paused when bad fails with answers
		byConnections    bool // paused when bad fails to connect
	}{
		"the same":                      {"acme", "hook", bad, true, true},
		"the same host, spelled apart":  {"acme", "hook", "https://H.example:443/in?shop=1", false, true},
		"another path":                  {"acme", "hook", "https://h.example/good", false, true},
		"another query":                 {"acme", "hook", "https://h.example/in?shop=2", false, true},
		"another tenant":                {"zeta", "hook", bad, false, true},
		"no tenant":                     {"", "hook", bad, false, true},
		"another type":                  {"acme", "mail", bad, false, true},
		"another port":                  {"acme", "hook", "https://h.example:8443/in?shop=1", false, false},
		"plain HTTP to the same port":   {"acme", "hook", "http://h.example:443/in?shop=1", false, false},
		"another host":                  {"acme", "hook", "https://g.example/in?shop=1", false, false},
		"Belfry itself, the same place": {"", core.AlertType, bad, false, true},
	} {
		w := newWebhook(t, Options{Breaker: BreakerOptions{Failures: 3, Pause: time.Hour}})
		for _, how := range []struct {
			name string
			end  func(*pass)
			held bool
		}{{"answers", fails, c.byAnswers}, {"connections", unconnected, c.byConnections}} {
			for i := range int64(3) {
				p, err := w.admission.enter(t.Context(), routeTo(t, w, i, "acme", "hook", bad))
				if err != nil {
					t.Fatalf("%s, %s: %v", name, how.name, err)
				}
				how.end(p)
			}
			p, err := w.admission.enter(t.Context(), routeTo(t, w, 9, c.tenant, c.typ, c.url))
			if (err != nil) != how.held {
				t.Errorf("%s, failing by its %s: held back %t, want %t: %v", name, how.name, err != nil, how.held, err)
			}
			if err == nil {
				succeeds(p)
			}
			w.admission.hosts, w.admission.endpoints = places{}, places{}
		}
	}
}

// A host whose bad path gets one request a second, with any kind of failure, delivers to its good path at once.
func TestBadPathKeepsNoGoodOneWaiting(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	for name, bad := range map[string]http.HandlerFunc{
		"503": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"429": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
		"hangs up": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close()
			}
		},
		"never answers": func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-release:
			}
		},
		"never ends its answer": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-release:
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t, func(w http.ResponseWriter, req *http.Request) {
				if req.URL.Path == "/bad" {
					bad(w, req)
				}
			})
			w := newWebhook(t, Options{
				Guard: loopback(t), PerHost: 10, PerWait: time.Millisecond, Breaker: BreakerOptions{Failures: 3, Pause: time.Hour},
				Limits: Limits{Answer: time.Hour, Body: time.Hour},
			})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			for i := range int64(60) {
				go func() {
					job := jobFor(r)
					job.ID, job.Target = 100+i, targetOf(r.URL+"/bad")
					_, err := w.Work(ctx, job)
					ended <- err
				}()
				job := jobFor(r)
				job.Target = targetOf(r.URL + "/good")
				if _, err := w.Work(t.Context(), job); err != nil {
					t.Fatalf("with %d bad ones: %v", i+1, err)
				}
			}
			cancel()
			for range 60 {
				<-ended
			}
			if c := w.Counts(); c.InFlight != 0 || c.Waiting != 0 {
				t.Errorf("left over: %+v", c)
			}
		})
	}
}

// A job's own short timeout does not count as a failed connection for other jobs.
func TestShortTimeoutOfAJobSpeaksForNoHost(t *testing.T) {
	end := undelivered(cancelled(core.ErrTimeout), context.Background(), "h:443", core.ErrTimeout)
	if end.host != unknown || end.endpoint != unhealthy {
		t.Errorf("host %d, endpoint %d", end.host, end.endpoint)
	}
	if end = undelivered(cancelled(core.ErrStopping), context.Background(), "h:443", core.ErrStopping); end.host != unknown || end.endpoint != unknown {
		t.Errorf("after a stop: host %d, endpoint %d", end.host, end.endpoint)
	}
}

func cancelled(cause error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	return ctx
}

// A silent target with a working connection does not block other deliveries to its host.
func TestProbeOfAHostEndsWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newAdmission(50)
		for range breakerTestOptions.Failures {
			p, err := g.enter(t.Context(), to("a:80"))
			if err != nil {
				t.Fatal(err)
			}
			unconnected(p)
		}
		time.Sleep(breakerTestOptions.Pause)
		probe, err := g.enter(t.Context(), to("a:80"))
		if err != nil {
			t.Fatal(err)
		}
		other := route{job: 2, host: "a:80", scheme: "http", endpoint: "other"}
		_, err = g.enter(t.Context(), other)
		snoozed(t, err)
		probe.connected()
		p, err := g.enter(t.Context(), other)
		if err != nil {
			t.Fatalf("the host is connected to, and others wait for the answer: %v", err)
		}
		succeeds(p)
		fails(probe)
		if g.counts().HostsPaused != 0 {
			t.Error("a host that is connected to is left alone for what one URL answered")
		}
	})
}

// A job that always fails is not every probe of its endpoint: a job refused since gets the next one.
func TestProbeIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newAdmission(50)
		bad, good := to("a:80"), to("a:80")
		bad.job, good.job = 1, 2
		for range breakerTestOptions.Failures {
			p, err := g.enter(t.Context(), bad)
			if err != nil {
				t.Fatal(err)
			}
			fails(p)
		}
		_, err := g.enter(t.Context(), good)
		snoozed(t, err)
		time.Sleep(breakerTestOptions.Pause)
		if _, err = g.enter(t.Context(), bad); err == nil {
			t.Fatal("the job that failed has the probe, though another waits")
		}
		if wait := snoozed(t, err); wait > breakerTestOptions.Pause {
			t.Errorf("it is put back for %s", wait)
		}
		p, err := g.enter(t.Context(), good)
		if err != nil {
			t.Fatal(err)
		}
		succeeds(p)

		for range breakerTestOptions.Failures {
			p, err := g.enter(t.Context(), bad)
			if err != nil {
				t.Fatal(err)
			}
			fails(p)
		}
		_, err = g.enter(t.Context(), good) // it is cancelled afterwards
		snoozed(t, err)
		time.Sleep(breakerTestOptions.Pause)
		_, err = g.enter(t.Context(), bad)
		snoozed(t, err)
		if p, err = g.enter(t.Context(), bad); err != nil {
			t.Fatalf("it waits for one that never comes: %v", err)
		}
		fails(p)
	})
}

// Memory is bounded, however many hosts, paths, queries, tenants and types fail. A place in use is never forgotten.
func TestMemoryOfFailuresIsBounded(t *testing.T) {
	for name, vary := range map[string]func(r *route, i int){
		"hosts":     func(r *route, i int) { r.host = fmt.Sprintf("h%d:80", i) },
		"endpoints": func(r *route, i int) { r.endpoint = strings.Repeat("x", 4000) + fmt.Sprint(i) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newAdmission(100)
				g.breaker.Failures = 1
				kept := route{host: "kept:80", scheme: "http", endpoint: "kept"}
				p, err := g.enter(t.Context(), kept)
				if err != nil {
					t.Fatal(err)
				}
				for i := range 10 * maxPlaces {
					r := to("a:80")
					vary(&r, i)
					p, err := g.enter(t.Context(), r)
					if err != nil {
						t.Fatal(err)
					}
					if name == "hosts" {
						unconnected(p)
					} else {
						fails(p)
					}
					if n := len(g.hosts) + len(g.endpoints); n > 2*maxPlaces {
						t.Fatalf("%d hosts and endpoints are remembered", n)
					}
				}
				if g.hosts[kept.hostKey()] != p.host || g.endpoints[kept.endpointKey()] != p.endpoint {
					t.Error("a delivery under way was forgotten")
				}
				succeeds(p)
			})
		})
	}
}

// When places are dropped to make space, paused ones are dropped last.
func TestOpenBreakersAreForgottenLast(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	opts := breakerTestOptions
	ps := places{}
	for i := range maxPlaces {
		p := ps.use(keyOf(fmt.Sprint(i)), now, opts)
		p.users, p.breaker.failures, p.breaker.until = 0, 1, now
		if i%4 == 0 {
			p.breaker.open(opts.Pause, 1, now)
		}
	}
	ps.use(keyOf("one more"), now, opts)
	open := 0
	for _, p := range ps {
		if p.breaker.pause > 0 {
			open++
		}
	}
	if open != maxPlaces/4 || len(ps) > maxPlaces*3/4+1 {
		t.Errorf("%d of %d that are left alone are remembered, %d in all", open, maxPlaces/4, len(ps))
	}
}

// No event contains a URL: its path or query may be a secret.
func TestEventsOfEndpointsHoldNoURL(t *testing.T) {
	var told []HostEvent
	w := newWebhook(t, Options{Breaker: BreakerOptions{Failures: 1}, OnEvent: func(e HostEvent) { told = append(told, e) }})
	r := routeTo(t, w, 1, "acme", "hook", "https://h.example/canary?canary=canary")
	p, err := w.admission.enter(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	p.leave(healthy, unhealthy)
	want := HostEvent{Kind: EndpointPaused, Host: "h.example:443", Tenant: "acme", Type: "hook", Failures: 1, Pause: 5 * time.Second}
	if len(told) != 1 || told[0] != want {
		text, _ := json.Marshal(told)
		t.Errorf("told %s", text)
	}
}

// A failure without a connection counts for the host, and one with a connection for the endpoint.
func TestWhatAFailureSpeaksFor(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	strange := startReceiver(t, func(http.ResponseWriter, *http.Request) {})
	strange.StartTLS()
	dns := dnstest.Start(t)
	g := newGuard(t, GuardOptions{Allow: []string{"127.0.0.0/8"}, Resolver: dns.Resolver()})
	dns.Set("inside.example.com", "10.0.0.1")
	for name, c := range map[string]struct {
		url  string
		host bool
	}{
		"connection refused":      {"http://" + gone.Addr().String(), true},
		"a name that is unknown":  {"http://nobody.example.com", true},
		"a name that is refused":  {"http://inside.example.com", true},
		"a strange certificate":   {strange.URL, true},
		"no TLS":                  {"https://" + listen(t, reply("HTTP/1.1 400 Bad Request\r\n\r\n")), true},
		"silence instead of TLS":  {"https://" + listen(t, silence), true},
		"hung up":                 {"http://" + listen(t, hangUp("", 0)), false},
		"silence":                 {"http://" + listen(t, silence), false},
		"an answer that is none":  {"http://" + listen(t, hangUp("SSH-2.0-x\r\n", 0)), false},
		"500":                     {"http://" + listen(t, hangUp("HTTP/1.1 500 no\r\nContent-Length: 0\r\n\r\n", 0)), false},
		"a status that is no end": {"http://" + listen(t, hangUp("HTTP/1.1 101 no\r\n\r\n", 0)), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWebhook(t, Options{Guard: g, Breaker: BreakerOptions{Failures: 2, Pause: time.Hour}, Limits: Limits{TLS: 50 * time.Millisecond, Answer: 50 * time.Millisecond}})
			work := func(path string) error {
				_, err := w.Work(t.Context(), &core.Job{ID: 1, Target: targetOf(c.url + path), Attempts: 1, MaxAttempts: 9})
				return err
			}
			for range 2 {
				if err := work("/bad"); err == nil || core.IsPermanent(err) || strings.Contains(err.Error(), "left alone") {
					t.Fatalf("%v", err)
				}
			}
			if n := w.Counts(); n.HostsPaused+n.EndpointsPaused != 1 || n.HostsPaused == 1 != c.host {
				t.Errorf("%+v, want the host %t", n, c.host)
			}
			if err := work("/other"); strings.Contains(err.Error(), "left alone") != c.host {
				t.Errorf("another URL: %v", err)
			}
		})
	}
}
