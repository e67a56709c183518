package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/boot"
)

// frozenAfter is the time without an invocation after which connections may have died: a process without one gets no CPU.
const frozenAfter = time.Second

// freezable is a store for processes that are frozen between invocations.
type freezable interface {
	AfterFreeze()
	Rest(ctx context.Context)
}

// Host is what the roles of one process stand on. Safe for concurrent use.
type Host struct {
	Settings boot.Settings
	Store    core.Store
	Types    *typecache.Cache // Run keeps it fresh; where nothing runs all the time, Begin does
	Webhooks *boot.Webhooks
	Log      *slog.Logger
	Name     string      // of this process among all
	Waker    *boot.Waker // of the tick; nil if it needs none

	platform Platform
	closers  []func() error // closed in reverse order

	mu     sync.Mutex
	active int       // invocations at work
	last   time.Time // when the last one ended
}

// New returns a host for a program that has read its settings and opened its store, and closes the store itself after
// Close. The zero value of o is ready; its log is replaced by log.
func New(ctx context.Context, s boot.Settings, store core.Store, log *slog.Logger, o boot.WebhookOptions) (*Host, error) {
	where, err := os.Hostname()
	if err != nil {
		where = "host"
	}
	h := &Host{Settings: s, Store: store, Log: log, Name: boot.InstanceName(where)}
	return h, h.openShared(ctx, o)
}

// Open reads the settings and opens everything else that a role needs on this platform.
func Open(ctx context.Context, p Platform) (*Host, error) {
	ctx, cancel := context.WithTimeout(ctx, p.OpenTimeout)
	defer cancel()
	settings, err := p.ReadSettings(ctx)
	if err != nil {
		return nil, err
	}
	h := &Host{Settings: settings, Log: p.NewLogger(settings), Name: boot.InstanceName(p.Where), platform: p, last: time.Now()}
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Host) open(ctx context.Context) (err error) {
	if h.Store, err = h.platform.OpenStore(ctx, h); err != nil {
		return err
	}
	h.CloseLater(h.Store.Close)
	if err := h.openShared(ctx, boot.WebhookOptions{}); err != nil || h.Settings.TickWake == "" {
		return err
	}
	wake, err := h.platform.OpenWaker(ctx, h, h.Settings.TickWake)
	if err != nil {
		return fmt.Errorf("BELFRY_TICK_WAKE: %w", err)
	}
	h.Waker = boot.NewWaker(h.Settings, h.Log, wake)
	return nil
}

// openShared opens what each role needs beside the store.
func (h *Host) openShared(ctx context.Context, o boot.WebhookOptions) (err error) {
	h.Types = typecache.New(h.Store, typecache.Options{OnError: func(err error) { h.Log.Error("types not read", "error", err) }})
	o.Log = h.Log
	if h.Webhooks, err = boot.OpenWebhooks(ctx, h.Settings, h.Store, o); err != nil {
		return err
	}
	h.CloseLater(func() error { h.Webhooks.Close(); return nil })
	return nil
}

// CloseLater makes Close call f before what was given to CloseLater earlier.
func (h *Host) CloseLater(f func() error) { h.closers = append(h.closers, f) }

// Close closes what was opened, in reverse order. Nothing may be at work.
func (h *Host) Close() error {
	var errs []error
	for _, closes := range slices.Backward(h.closers) {
		errs = append(errs, closes())
	}
	return errors.Join(errs...)
}

// OpenQueue opens the queues that the settings name; nil if they name none. Visibility is zero for those who do not receive.
func (h *Host) OpenQueue(ctx context.Context, visibility time.Duration) (core.Queue, error) {
	return h.platform.OpenQueues(ctx, h.Settings, visibility)
}

// Begin begins an invocation or a request; what it returns ends it. The first one after a pause does not trust connections.
// What is known of types is read again once it is old.
func (h *Host) Begin(ctx context.Context) (end func()) {
	if h.wakes() {
		if store, ok := h.Store.(freezable); ok {
			store.AfterFreeze()
		}
		h.Webhooks.Close()
	}
	if err := h.Types.Fresh(ctx); err != nil && !errors.Is(err, context.Canceled) { // the caller may have gone
		h.Log.Error("types not read", "error", err)
	}
	return func() {
		h.Waker.Flush(ctx)
		h.ended()
	}
}

// Rest lets go of what an idle store holds, before the process is frozen for a while.
func (h *Host) Rest(ctx context.Context) {
	if store, ok := h.Store.(freezable); ok {
		store.Rest(ctx)
	}
}

// wakes counts an invocation in and reports whether it is the first after a pause.
func (h *Host) wakes() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active++
	return h.active == 1 && time.Now().Round(0).Sub(h.last.Round(0)) > frozenAfter // by the wall clock: the monotonic one stops while frozen
}

// ended counts an invocation out.
func (h *Host) ended() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active--
	h.last = time.Now()
}
