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

	"golang.org/x/sync/errgroup"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/fleet"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/submit"
	coretick "github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/assemble"
	"github.com/belfry-dev/belfry/functions/boot"
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
	n := &running{Parts: p, name: instanceName()}
	if err := n.openWebhooks(ctx); err != nil {
		return err
	}
	defer n.webhooks.Close()
	err := n.build(ctx)
	defer n.closeAlerts(ctx)
	defer n.closeDispatch(ctx)
	if err != nil {
		return err
	}
	if p.Ready != nil {
		p.Ready()
	}
	roles, ctx := errgroup.WithContext(ctx)
	if n.Roles.API || n.Roles.Worker || n.Roles.Tick {
		roles.Go(func() error { n.types.Run(ctx); return nil })
	}
	if n.server != nil {
		roles.Go(func() error { return n.serve(ctx) })
		roles.Go(func() error {
			boot.BoundMemory(ctx, int64(n.Settings.RequestMemory)<<20, n.api.HeldMemory)
			return nil
		})
	}
	if n.tick != nil {
		roles.Go(func() error { return n.tick.Run(ctx) })
	}
	if n.worker != nil {
		roles.Go(func() error { return n.worker.Run(ctx) })
	}
	if n.Health != nil {
		roles.Go(func() error { return n.tellHealth(ctx) })
	}
	return roles.Wait()
}

// running is a node at work.
type running struct {
	Parts
	name   string
	api    *assemble.Service
	server *http.Server
	tick   *tick.Function
	worker *worker.Function
	// dispatch publishes at submit; nil where the tick of this process does, or nobody
	dispatch *assemble.Dispatcher

	types    *typecache.Cache
	webhooks *boot.Webhooks
	alerts   *boot.Alerts     // nil where nobody is told
	counts   *schedule.Counts // of this process's tick; nil where there is none

	passed   *pulse                     // passes of the tick
	claimed  *pulse                     // claims of a direct worker, at most poll apart
	received map[queuegroup.Key]*intake // of the queues; nil in direct mode
	sent     map[queuegroup.Key]*outlet // of the queues; nil in direct mode
	poll     time.Duration
}

func (n *running) build(ctx context.Context) (err error) {
	if n.Roles.Worker {
		n.claimed, n.poll = newPulse(), time.Second
		o := worker.Options{Store: watchedStore{n.Store, n.claimed}, Handlers: n.Handlers, Settings: n.Settings, ID: n.name, Log: n.Log}
		o.Deliver, o.Types = n.webhooks.Handler(), n.types
		if n.Queue != nil {
			o.Queue, n.received = watchQueue(n.Queue)
		}
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
		o := tick.Options{Store: n.Store, Settings: n.Settings, Holder: n.name, Log: n.Log, Types: n.types, Counts: n.counts}
		if n.Queue != nil {
			o.Queue, n.sent = watchOutlets(n.Queue)
		}
		o.OnTick = func(coretick.Report) { n.passed.beat() }
		if n.alerts, err = boot.OpenAlerts(ctx, n.Settings, n.webhooks, n.Store); err != nil {
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
			Topics: n.tick.Topics(), TakeCredit: n.tick.TakeCredit, Fleet: fleet.NewView(n.Store), Types: n.types,
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
		Settings: n.Settings, Store: n.Store, Submit: store, Types: n.types, Webhooks: n.webhooks, Name: n.name, Version: n.Version, Log: n.Log, Counts: n.counts,
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
	n.server = &http.Server{Handler: n.webhooks.Watch(n.api), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: n.Settings.KeepAlive, ErrorLog: slog.NewLogLogger(n.Log.Handler(), slog.LevelWarn)}
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

// instanceName names this process among all.
func instanceName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return boot.InstanceName(host)
}
