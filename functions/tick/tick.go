package tick

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host"
)

// Options configure a tick function.
type Options struct {
	Store    tick.Store
	Queue    core.Queue // nil means direct mode: workers claim from the store
	Settings boot.Settings
	Holder   string // names this instance among all schedulers; required
	Log      *slog.Logger
	Wake     func(due []core.Lane) // wakes idle workers of this process for due lanes. Nil means that the process has none
	// Types has the defaults for jobs of schedules; the host keeps it fresh. Nil means none.
	Types *typecache.Cache
	// Alerts delivers alerts. Nil means that none are delivered.
	Alerts func(ctx context.Context, alerts []core.Alert) error
	// Counts counts the outcomes of due instants. Nil means no counts.
	Counts *schedule.Counts
	// OnTick is called after every successful pass. Nil means no call.
	OnTick func(tick.Report)
	// Stats returns the figures that are logged once a minute. Nil means that none are logged.
	Stats core.StatsStore
	// Rest releases the store's idle resources before the process is frozen. Nil means that there are none.
	Rest func(ctx context.Context)
	// Functions says that consumers of the queues may live only while there is work: jobs of types that no worker announces
	// are published too. False means that only types of live workers are published.
	Functions bool
	// Concurrency declares how many jobs of a priority the consumers run at once. Zero means unknown.
	Concurrency map[core.Priority]int

	invocation invocation
}

// For opens the queues and the alerts of h, and returns the options of a tick that something invokes. The alerts are nil if
// none are delivered.
func For(ctx context.Context, h *host.Host) (Options, *boot.Alerts, error) {
	queue, err := h.OpenQueue(ctx, 0)
	if err != nil {
		return Options{}, nil, err
	}
	alerts, err := boot.OpenAlerts(ctx, h.Settings, h.Webhooks, h.Store)
	if err != nil {
		return Options{}, nil, err
	}
	o := Options{
		Store: h.Store, Queue: queue, Settings: h.Settings, Holder: h.Name, Log: h.Log, Types: h.Types, Stats: h.Store,
		Rest: h.Rest, Functions: true,
	}
	if alerts != nil {
		o.Alerts = alerts.Publish
	}
	return o, alerts, nil
}

// Function is the tick function.
type Function struct {
	ticker *tick.Ticker
	period time.Duration
	topics map[core.Priority]core.Topic
	state  *stateLog       // nil where the log gets no numbers
	ctx    context.Context // of Run or Pass
}

// New opens the topics, in queue mode, and makes the function.
func New(ctx context.Context, o Options) (*Function, error) {
	f := &Function{}
	if o.Queue != nil {
		f.topics = map[core.Priority]core.Topic{}
		for _, p := range core.Priorities {
			topic, err := o.Queue.OpenTopic(ctx, p)
			if err != nil {
				f.close(ctx)
				return nil, fmt.Errorf("open the %s topic: %w", p, err)
			}
			f.topics[p] = topic
		}
	}
	if o.Stats != nil {
		f.state = &stateLog{store: o.Stats, log: o.Log, latest: cmp.Or(o.invocation.state, new(latest))}
	}
	onTick := func(r tick.Report) {
		if o.OnTick != nil {
			o.OnTick(r)
		}
		if f.state != nil && f.ctx != nil {
			f.state.ticked(f.ctx, r)
		}
	}
	schedules := schedule.Options{Types: o.Types, Takeover: o.Settings.Takeover()}
	t, err := tick.New(o.Store, tick.Options{
		LeaveIdle: o.invocation.leaveIdle, LeaveAfter: o.invocation.leaveAfter,
		MaintainNext: o.invocation.upkeep,
		Holder:       o.Holder, Period: o.Settings.Tick, LeaseLength: o.Settings.BucketLease, Topics: f.topics, Wake: o.Wake,
		Maintain:  core.MaintainRequest{HistoryRetention: o.Settings.HistoryRetention, DeadRetention: o.Settings.DeadRetention, LedgerRetention: o.Settings.LedgerRetention},
		Schedules: schedules, OnAlerts: o.Alerts, Counts: o.Counts,
		OnTick:      onTick,
		Unannounced: o.Functions,
		Dispatch:    tick.DispatchOptions{Ceiling: o.Settings.Window, Concurrency: o.Concurrency},
		OnEvent:     func(e tick.Event) { logEvent(o.Log, e) },
	})
	if err != nil {
		f.close(ctx)
		return nil, err
	}
	f.ticker, f.period = t, cmp.Or(o.Settings.Tick, time.Second)
	return f, nil
}

// Run ticks until ctx is cancelled or shortly before its deadline, then releases the leases and closes the topics.
func (f *Function) Run(ctx context.Context) error {
	defer f.close(context.WithoutCancel(ctx))
	f.ctx = ctx
	return f.ticker.Run(ctx)
}

// TakeCredit is the credit for dispatch at submit; see Ticker.
func (f *Function) TakeCredit(ctx context.Context, queue queuegroup.Key, n int) int {
	return f.ticker.TakeCredit(ctx, queue, n)
}

// Topics are the open topics: nil in direct mode.
func (f *Function) Topics() map[core.Priority]core.Topic { return f.topics }

func (f *Function) close(ctx context.Context) {
	if f.state != nil {
		f.state.writing.Wait()
	}
	for _, t := range f.topics {
		_ = t.Close(ctx) // the next holder publishes again what was not sent
	}
}

func logEvent(log *slog.Logger, e tick.Event) {
	level := slog.LevelInfo
	switch e.Kind {
	case tick.TickFailed, tick.PublishFailed, tick.MaintainFailed, tick.JobQuarantined, tick.RowSetApart:
		level = slog.LevelError
	case tick.LeasesLost, tick.JobsLost, tick.JobsUnreported, tick.JobSuspected, tick.ScheduleBroken, tick.AlertsUnsent:
		level = slog.LevelWarn
	case tick.Maintained:
		level = slog.LevelDebug
	}
	args := []any{}
	if e.Count > 0 {
		args = append(args, "count", e.Count)
	}
	if e.Job != 0 {
		args = append(args, "job", fmt.Sprint(e.Job), "type", e.Type)
	}
	if f := e.Fault; f.Kind != "" {
		args = append(args, "row", f.String(), "act", f.Act, "error", f.Error, "retry_at", f.RetryAt.UTC().Format(time.RFC3339))
	}
	if e.Err != nil {
		args = append(args, "error", e.Err)
	}
	if e.Kind == tick.Maintained {
		args = append(args, "partitions_made", e.Upkeep.PartitionsMade, "partitions_dropped", e.Upkeep.PartitionsDropped,
			"dead_dropped", e.Upkeep.DeadDropped, "rollups_merged", e.Upkeep.RollupsMerged, "overflow", e.Upkeep.Overflow)
	}
	log.Log(context.Background(), level, string(e.Kind), args...)
}
