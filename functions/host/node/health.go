package node

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// patience is how long a role may make no progress, at least, before it counts as stuck. Queues have a longer one: see
// host.WatchQueue.
const patience = 15 * time.Second

// health is what GET /healthz answers from: whether every role of the node makes progress. The body names each role and what
// is wrong with it.
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

// answer asks all roles at once.
func (h *health) answer(ctx context.Context) (body any, well bool) {
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
	for i, role := range h.roles {
		if answer.Roles[role] = said[i]; said[i] != "ok" {
			answer.Status = "failing"
		}
	}
	return answer, answer.Status == "ok"
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
	if err := n.queues.Publishing(); err != nil {
		return err
	}
	return n.Store.Ping(ctx)
}

// works: the worker asks for jobs, unless it has its hands full, and the store answers.
func (n *running) works(ctx context.Context) error {
	counts := n.worker.Counts()
	if counts.Running+counts.Finishing >= counts.Slots-n.Settings.CriticalWorkers {
		return n.Store.Ping(ctx)
	}
	if n.Queue == nil {
		if silent := n.claimed.silent(); silent > max(3*n.poll, patience) {
			return fmt.Errorf("no claim of the worker was answered for %s", silent.Round(time.Second))
		}
	}
	if err := n.queues.Receiving(); err != nil {
		return err
	}
	return n.Store.Ping(ctx)
}
