package worker

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/core/work"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host"
)

// Options configure a worker function.
type Options struct {
	Store    core.WorkStore
	Queue    core.Queue // nil means that jobs are claimed from the store, or that calls bring their messages
	Handlers core.Handlers
	Settings boot.Settings
	ID       string // names this worker in rows and logs; required
	Log      *slog.Logger
	// Deliver does the work of jobs that have a target or whose type has one. Types knows these types; its maker keeps it
	// fresh. Nil means that handlers do all work.
	Deliver core.Handler
	Types   *typecache.Cache
	// Announcer announces the worker in the store. Hosts that make a worker for each call share one. Nil means
	// NewAnnouncer's.
	Announcer *work.Announcer
	// Pass is the queue for messages whose jobs other workers run, if messages come with a call. Nil means Queue.
	Pass core.Queue
	// Poll is the longest sleep between claims in direct mode. Zero means 1 s; longer if a tick of the same process calls
	// Wake.
	Poll time.Duration
}

// For returns the options of a worker on h.
func For(h *host.Host, handlers core.Handlers) Options {
	return Options{
		Store: boot.Waking(h.Store, h.Waker), Handlers: handlers, Settings: h.Settings, ID: h.Name, Log: h.Log,
		Deliver: h.Webhooks.Handler(), Types: h.Types,
	}
}

// NewAnnouncer returns the Announcer for the worker of o. The worker runs all the time or, if function names one, in an
// instance of that function while there is work.
func NewAnnouncer(o Options, function string) *work.Announcer {
	who := core.Presence{ID: o.ID, Version: boot.Version()}
	who.Host, _ = os.Hostname()
	if function != "" {
		who.ID, who.Host, who.Function = function, "", true
	}
	return work.NewAnnouncer(o.Store, who)
}

// Function is the worker function.
type Function struct {
	*work.Worker
	queue core.Queue
}

// New makes the function. It touches neither store nor queue before Run.
func New(o Options) (*Function, error) {
	grace := o.Settings.StopGrace
	if grace == 0 {
		grace = -1 // none: zero would mean the default
	}
	critical := o.Settings.CriticalWorkers
	if critical == 0 {
		critical = -1
	}
	if o.Announcer == nil {
		o.Announcer = NewAnnouncer(o, "")
	}
	w, err := work.New(o.Store, o.Handlers, work.Options{
		ID: o.ID, Slots: o.Settings.Workers, Priorities: o.Settings.TakenPriorities(), Groups: o.Settings.TakenGroups(), CriticalSlots: critical, Lease: o.Settings.Lease, Heartbeat: o.Settings.Heartbeat,
		Timeout: o.Settings.Timeout, MaxTime: o.Settings.MaxTimeout, StopGrace: grace, Poll: o.Poll,
		Deliver: o.Deliver, Types: o.Types, Announcer: o.Announcer, Pass: o.Pass,
		OnEvent: func(e work.Event) { logEvent(o.Log, e) },
	})
	if err != nil {
		return nil, err
	}
	if err := w.CheckQueue(o.Queue); err != nil {
		if len(o.Settings.WorkerQueues) > 0 {
			err = fmt.Errorf("BELFRY_WORKER_QUEUES: %w", err)
		}
		return nil, err
	}
	return &Function{w, o.Queue}, nil
}

// Run works until ctx ends and all its jobs are finished or handed back. It claims jobs, or receives them from its queue;
// if calls bring their messages, see Serve and Batch.
func (f *Function) Run(ctx context.Context) error {
	if f.queue != nil {
		return f.Receive(ctx, f.queue)
	}
	return f.Worker.Run(ctx)
}

// ReceivedQueues returns the keys of the queues that it receives from.
func (f *Function) ReceivedQueues() []queuegroup.Key { return f.Worker.ReceivedQueues(f.queue) }

func logEvent(log *slog.Logger, e work.Event) {
	level := slog.LevelWarn
	switch e.Kind {
	case work.StoreBack, work.QueueBack, work.Registered:
		level = slog.LevelInfo
	case work.StoreLost, work.QueueLost, work.EndDropped, work.Panicked, work.Leaked:
		level = slog.LevelError
	}
	args := []any{"worker", e.Worker}
	if e.Job.ID != 0 {
		args = append(args, "job", fmt.Sprint(e.Job.ID), "type", e.Type, "priority", e.Priority.String())
	}
	if e.Kind == work.QueueLost || e.Kind == work.QueueBack {
		args = append(args, "queue", queuegroup.Key{Priority: e.Priority, Group: e.Group}.String())
	}
	if e.Err != nil {
		args = append(args, "error", e.Err)
	}
	log.Log(context.Background(), level, string(e.Kind), args...)
}
