// Package assemble puts the API together from settings and a store, in the same way on every host.
package assemble

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/report"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/storeclock"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host"
)

// Parts are what a host gives.
type Parts struct {
	Settings boot.Settings
	Store    core.Store
	Submit   core.SubmitStore // where jobs are written. Nil means Store
	Types    *typecache.Cache // kept fresh by the host
	Webhooks *boot.Webhooks
	Name     string // of this process among all
	Version  string
	Log      *slog.Logger
	Counts   *schedule.Counts // of the tick of this process. Nil means none is here
	// Closed lets no call go without a token, Loopback says that a loopback address is served; see api.Options.
	Closed, Loopback bool
	Queues           bool           // jobs are handed out through queues
	KeepAlive        time.Duration  // of connections, for answers to say; see api.Options
	Spool            string         // a directory on a disk that is not memory; see api.Options
	Limits           api.Limits     // beside those that are settings
	Wake             func()         // something may be due. Nil means no worker is here
	Poke             func(id int64) // job id was accepted, put back or cancelled. Nil means no worker is here
}

// Service is the API with what it stands on.
type Service struct {
	*api.API
	submit  *submit.Submitter
	reports *report.Reporter // of targets
	// dispatch publishes at submit; nil if nobody does, or somebody else closes it
	dispatch *Dispatcher
}

// Open makes the service of a function on h. If the settings name queues, it publishes jobs that are due at once at their
// submit.
func Open(ctx context.Context, h *host.Host, limits api.Limits) (*Service, error) {
	if err := access.CheckOpen(ctx, false, h.Settings.Tokens, h.Settings.Insecure, h.Store); err != nil {
		return nil, err
	}
	queue, err := h.OpenQueue(ctx, 0)
	if err != nil {
		return nil, err
	}
	var submit core.SubmitStore = h.Store
	var dispatch *Dispatcher
	if queue != nil {
		if dispatch, err = NewDispatcher(ctx, h.Store, queue, h.Settings, h.Types, true); err != nil {
			return nil, err
		}
		submit = dispatch
	}
	s, err := New(Parts{
		Settings: h.Settings, Store: boot.Waking(h.Store, h.Waker), Submit: boot.WakingSubmit(submit, h.Waker), Types: h.Types, Webhooks: h.Webhooks,
		Name: h.Name, Version: boot.Version(), Log: h.Log, Queues: queue != nil, Closed: !h.Settings.Insecure, Limits: limits,
	})
	if err != nil {
		return nil, err
	}
	s.dispatch = dispatch
	return s, nil
}

// New makes the service. It calls nobody.
func New(p Parts) (*Service, error) {
	if p.Submit == nil {
		p.Submit = p.Store
	}
	p.Limits.Rate, p.Limits.Timeout, p.Limits.Memory = p.Settings.APIRate, p.Settings.MaxTimeout, int64(p.Settings.RequestMemory)<<20
	clock := storeclock.New(p.Store)
	s := &Service{
		submit:  submit.New(p.Submit, submit.Options{Now: clock.Now, Wake: p.Wake, Types: p.Types}),
		reports: report.NewReporter(p.Store, report.ReporterOptions{ID: p.Name, Timeout: p.Settings.Timeout}),
	}
	o := api.Options{
		Now: clock.Now, KeepAlive: p.KeepAlive, Spool: p.Spool,
		Tokens: p.Settings.Tokens, Access: p.Store, Closed: p.Closed, Loopback: p.Loopback, Queues: p.Queues,
		Limits: p.Limits, KeepKeys: p.Settings.KeepKeys, Poke: p.Poke,
		Submitter: s.submit, Jobs: p.Store, Stats: p.Store, Version: p.Version, Logger: p.Log,
		Schedules: schedule.NewActs(p.Store, scheduleOptions(p), p.Wake), Ledger: p.Store,
		Types: p.Types, Attempts: s.reports, Leases: p.Webhooks.Leases, Counts: p.Counts,
	}
	if p.Webhooks.Guard != nil {
		o.Targets = p.Webhooks.Guard
	}
	var err error
	if s.API, err = api.New(o); err != nil {
		return nil, fmt.Errorf("assemble: %w", err)
	}
	return s, nil
}

// Finish writes what is still in memory: call it after the last request.
func (s *Service) Finish(ctx context.Context) error {
	err := s.submit.Close(ctx)
	s.reports.Close(ctx)
	if s.dispatch == nil {
		return err
	}
	return errors.Join(err, s.dispatch.Close(ctx))
}

// scheduleOptions are those of the tick: what counts as missed is the same for both.
func scheduleOptions(p Parts) schedule.Options {
	return schedule.Options{Types: p.Types, TickPeriod: p.Settings.Tick, Takeover: p.Settings.Takeover()}
}
