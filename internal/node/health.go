package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core/queuegroup"
)

const (
	patience      = 15 * time.Second // without progress, at least, before a role counts as stuck
	healthTimeout = 3 * time.Second  // of all that one answer asks
)

// health answers GET /healthz: 200 when every role of the node makes progress, else 503. The body names each role and
// what is wrong with it.
type health struct {
	roles  []string // in order
	checks []func(context.Context) error
}

func (h *health) add(role string, check func(context.Context) error) {
	h.roles, h.checks = append(h.roles, role), append(h.checks, check)
}

// healthOf makes the checks of the roles that were built.
func (n *running) healthOf() *health {
	h := &health{}
	if n.server != nil {
		h.add("api", n.apiReady)
	}
	if n.tick != nil {
		h.add("tick", n.ticks)
	}
	if n.worker != nil {
		h.add("worker", n.works)
	}
	return h
}

// ServeHTTP asks all roles at once.
func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/healthz" {
		http.NotFound(w, r)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), healthTimeout)
	defer cancel()
	said := make([]string, len(h.checks))
	var group sync.WaitGroup
	for i, check := range h.checks {
		group.Go(func() {
			said[i] = "ok"
			if err := check(ctx); err != nil {
				said[i] = err.Error()
			}
		})
	}
	group.Wait()
	answer := struct {
		Status string            `json:"status"`
		Roles  map[string]string `json:"roles"`
	}{"ok", map[string]string{}}
	status := http.StatusOK
	for i, role := range h.roles {
		if answer.Roles[role] = said[i]; said[i] != "ok" {
			answer.Status, status = "failing", http.StatusServiceUnavailable
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // whoever asked may be gone
}

// apiReady asks the API by its own port whether it can serve.
func (n *running) apiReady(ctx context.Context) error {
	host, port, err := net.SplitHostPort(n.Listener.Addr().String())
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{DisableKeepAlives: true} // by no proxy, and nothing stays open
	res, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("/readyz answers %s", res.Status)
	}
	return nil
}

// ticks: a pass has succeeded lately, what it publishes reaches the queues, and the store answers.
func (n *running) ticks(ctx context.Context) error {
	if silent := n.passed.silent(); silent > max(10*n.Settings.Tick, patience) {
		return fmt.Errorf("no pass of the tick has succeeded for %s", silent.Round(time.Second))
	}
	if n.sent != nil {
		for _, queue := range queuegroup.GroupsOf(n.Queue).Keys() {
			if stuck := n.sent[queue].stuck(); stuck > patience {
				return fmt.Errorf("nothing could be published to the %s queue for %s", queue, stuck.Round(time.Second))
			}
		}
	}
	return n.Store.Ping(ctx)
}

// works: the worker asks for jobs, unless it has its hands full, and the store answers.
func (n *running) works(ctx context.Context) error {
	counts := n.worker.Counts()
	if counts.Running+counts.Finishing >= counts.Slots-n.Settings.CriticalWorkers {
		return n.Store.Ping(ctx)
	}
	if n.received == nil {
		if silent := n.claimed.silent(); silent > max(3*n.poll, patience) {
			return fmt.Errorf("no claim of the worker was answered for %s", silent.Round(time.Second))
		}
		return n.Store.Ping(ctx)
	}
	for _, queue := range n.worker.ReceivedQueues() {
		if silent := n.received[queue].silent(); silent > patience {
			return fmt.Errorf("the %s queue has not been received from for %s", queue, silent.Round(time.Second))
		}
	}
	return n.Store.Ping(ctx)
}

// tellHealth serves /healthz until ctx ends.
func (n *running) tellHealth(ctx context.Context) error {
	server := &http.Server{Handler: n.healthOf(), ReadHeaderTimeout: healthTimeout, ErrorLog: slog.NewLogLogger(n.Log.Handler(), slog.LevelWarn)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(n.Health) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve health: %w", err)
	case <-ctx.Done():
	}
	err := server.Close()
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
