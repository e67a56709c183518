package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/fleet"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/submit"
	coretick "github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/assemble"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host"
	"github.com/belfry-dev/belfry/functions/tick"
	"github.com/belfry-dev/belfry/functions/worker"
)

// Parts are what a node is made of. The caller opens and closes the store.
type Parts struct {
	Settings boot.Settings
	Roles    Roles
	Store    core.Store
	Queue    core.Queue // nil means direct mode
	Shared   bool       // the queue joins processes, so that an API without a tick publishes jobs that are due at once
	Handlers core.Handlers
	Listener net.Listener // of the api role
	Health   net.Listener // where /healthz says whether the roles make progress. Nil means nowhere
	Version  string
	Log      *slog.Logger
	Webhooks boot.WebhookOptions // beyond the settings; its log is Log
	Ready    func()              // called once the roles are made and about to run. Nil means nobody waits
}

// Run runs the roles until ctx ends, then stops them all at once: what the API still accepts is a row like any
// other, for whoever comes next. The first role that fails stops the others.
func Run(ctx context.Context, p Parts) error {
	h, err := host.New(ctx, p.Settings, p.Store, p.Log, p.Webhooks)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }() // the webhooks' connections; the store is the caller's
	n := &running{Parts: p, host: h}
	err = n.build(ctx)
	defer n.closeAlerts(ctx)
	defer n.closeDispatch(ctx)
	if err != nil {
		return err
	}
	if p.Ready != nil {
		p.Ready()
	}
	var roles []func(context.Context) error
	if n.server != nil {
		roles = append(roles, n.serve, func(ctx context.Context) error {
			boot.BoundMemory(ctx, int64(n.Settings.RequestMemory)<<20, n.api.HeldMemory)
			return nil
		})
	}
	if n.tick != nil {
		roles = append(roles, n.tick.Run)
	}
	if n.worker != nil {
		roles = append(roles, n.worker.Run)
	}
	return h.Run(ctx, host.Health{Listener: n.Health, Answer: n.healthOf().answer}, roles...)
}

// running is a node at work.
type running struct {
	Parts
	host   *host.Host
	api    *assemble.Service
	server *http.Server
	tick   *tick.Function
	worker *worker.Function
	// dispatch publishes at submit; nil where the tick of this process does, or nobody
	dispatch *assemble.Dispatcher

	alerts *boot.Alerts     // nil where nobody is told
	counts *schedule.Counts // of this process's tick; nil where there is none

	passed  *pulse            // passes of the tick
	claimed *pulse            // claims of a direct worker, at most poll apart
	queues  *host.QueueHealth // nil in direct mode
	poll    time.Duration
}

func (n *running) build(ctx context.Context) (err error) {
	queue := n.Queue
	if queue != nil {
		queue, n.queues = host.WatchQueue(queue)
	}
	if n.Roles.Worker {
		n.claimed, n.poll = newPulse(), time.Second
		o := worker.For(n.host, n.Handlers)
		o.Store, o.Queue = watchedStore{n.Store, n.claimed}, queue
		if n.Roles.Tick {
			n.poll = 2 * n.Settings.Tick // the tick of this process wakes it
		}
		o.Poll = n.poll
		if n.worker, err = worker.New(o); err != nil {
			return err
		}
	}
	if n.Roles.Tick {
		n.passed, n.counts = newPulse(), &schedule.Counts{}
		o := tick.Options{Store: n.Store, Queue: queue, Settings: n.Settings, Holder: n.host.Name, Log: n.Log, Types: n.host.Types, Counts: n.counts}
		o.OnTick = func(coretick.Report) { n.passed.beat() }
		if n.alerts, err = boot.OpenAlerts(ctx, n.Settings, n.host.Webhooks, n.Store); err != nil {
			return err
		}
		if n.alerts != nil {
			o.Alerts = n.alerts.Publish
		}
		if n.worker != nil {
			o.Wake = func([]core.Lane) { n.worker.Wake() }
			o.Concurrency = map[core.Priority]int{}
			for _, p := range n.Settings.TakenPriorities() {
				o.Concurrency[p] = n.Settings.Workers
			}
		}
		if n.tick, err = tick.New(ctx, o); err != nil {
			return err
		}
	}
	if n.Roles.API {
		return n.buildAPI(ctx)
	}
	return nil
}

func (n *running) buildAPI(ctx context.Context) error {
	var store core.SubmitStore = n.Store
	var err error
	if n.tick != nil && n.Queue != nil {
		store, err = submit.NewDispatcher(n.Store, submit.DispatchOptions{
			Topics: n.tick.Topics(), TakeCredit: n.tick.TakeCredit, Fleet: fleet.NewView(n.Store), Types: n.host.Types,
		})
		if err != nil {
			return err
		}
	}
	if n.tick == nil {
		if err := n.dispatchAtSubmit(ctx); err != nil {
			return err
		}
		if n.dispatch != nil {
			store = n.dispatch
		}
	}
	loopback := false
	if a, ok := n.Listener.Addr().(*net.TCPAddr); ok {
		loopback = a.IP.IsLoopback()
	}
	if err := access.CheckOpen(ctx, loopback, n.Settings.Tokens, n.Settings.Insecure, n.Store); err != nil {
		return fmt.Errorf("serve %s: %w", n.Listener.Addr(), err)
	}
	o := assemble.Parts{
		Settings: n.Settings, Store: n.Store, Submit: store, Types: n.host.Types, Webhooks: n.host.Webhooks, Name: n.host.Name, Version: n.Version, Log: n.Log, Counts: n.counts,
		Closed: !loopback && !n.Settings.Insecure, Loopback: loopback && !n.Settings.Insecure,
		Queues: n.Queue != nil, KeepAlive: n.Settings.KeepAlive, Spool: os.TempDir(),
	}
	if n.worker != nil {
		o.Wake = n.worker.Wake
		o.Poke = func(id int64) { n.worker.Wake(); n.worker.Poke(id) }
	}
	if n.api, err = assemble.New(o); err != nil {
		return err
	}
	n.server = &http.Server{Handler: n.host.Webhooks.Watch(n.api), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: n.Settings.KeepAlive, ErrorLog: slog.NewLogLogger(n.Log.Handler(), slog.LevelWarn)}
	return nil
}

// serve answers requests until ctx ends, and for a delay beyond, then lets those in flight end, for as long as handlers may.
func (n *running) serve(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- n.server.Serve(n.Listener) }()
	select {
	case err := <-failed:
		n.api.Close()
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	n.api.Drain()
	select {
	case err := <-failed:
		n.api.Close()
		return fmt.Errorf("serve: %w", err)
	case <-time.After(n.Settings.StopDelay):
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.Settings.StopGrace+250*time.Millisecond)
	defer cancel()
	n.api.Close() // ends requests that wait
	err := n.server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = n.server.Close()
	}
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	// A caller that was slow to go must not take the time in which accepted jobs are written.
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishGrace)
	defer cancel()
	return errors.Join(err, n.api.Finish(rest))
}

// finishGrace is how long jobs that were accepted may take to be written after the last request has ended.
const finishGrace = 500 * time.Millisecond

// closeAlerts lets go of the topic that alerts were sent to.
func (n *running) closeAlerts(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.Settings.StopGrace)
	defer cancel()
	if err := n.alerts.Close(ctx); err != nil {
		n.Log.Warn("alerts not closed", "error", err)
	}
}
