package cloudrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/adapters/gcp"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/boot"
)

const (
	openTimeout = 30 * time.Second // Cloud Run gives the start minutes; one that takes long had better say why
	frozenAfter = time.Second      // without a request, from which on connections are asked whether they live
)

// defaults are those of the settings that differ on Cloud Run: its front end keeps connections for long, and must be the one to
// close them; and it needs a moment until no request comes any more.
var defaults = map[string]string{"BELFRY_KEEP_ALIVE": "15m", "BELFRY_STOP_DELAY": MaxDelay.String()}

// Host is what a container stands on. It may be used from many requests at once.
type Host struct {
	Settings boot.Settings
	Store    *postgres.Store
	Types    *typecache.Cache // who serves requests keeps it fresh with Begin; who runs all the time with its own Run
	Webhooks *boot.Webhooks
	Log      *slog.Logger
	Name     string      // of this container among all
	Service  string      // whose containers they are
	Waker    *boot.Waker // of the tick; nil where it needs none

	closers []func() error // in the order of closing, after the store

	mu     sync.Mutex
	active int       // requests at work
	last   time.Time // when the last one ended
}

// Open reads the settings and opens everything else. What it opened is closed by Close.
func Open(ctx context.Context) (*Host, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	settings, err := boot.ReadSettingsOr(defaults)
	if err == nil {
		err = settings.CheckCloud(boot.Google)
	}
	if err != nil {
		return nil, err
	}
	if settings.DatabaseURL == "" {
		return nil, errors.New("BELFRY_DATABASE_URL is not set")
	}
	h := &Host{Settings: settings, Log: NewLogger(settings, os.Stderr), Name: containerName(), Service: cmp.Or(os.Getenv("K_SERVICE"), "cloudrun"), last: time.Now()}
	boot.QuietStandardLog(h.Log)
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Host) open(ctx context.Context) error {
	o, closeDatabase, err := databaseOptions(ctx, h.Settings)
	if err != nil {
		return err
	}
	if closeDatabase != nil {
		h.closers = append(h.closers, closeDatabase)
	}
	o.Warn = boot.DatabaseWarnings(h.Log)
	if h.Store, err = postgres.Open(ctx, h.Settings.DatabaseURL, o); err != nil {
		return fmt.Errorf("BELFRY_DATABASE_URL: %w", err)
	}
	h.Types = typecache.New(h.Store, typecache.Options{OnError: func(err error) { h.Log.Error("types not read", "error", err) }})
	if h.Webhooks, err = boot.OpenWebhooks(ctx, h.Settings, h.Store, boot.WebhookOptions{Log: h.Log}); err != nil || h.Settings.TickWake == "" {
		return err
	}
	waker, err := gcp.NewWaker(ctx, h.Settings.TickWake)
	if err != nil {
		return fmt.Errorf("BELFRY_TICK_WAKE: %w", err)
	}
	h.closers = append(h.closers, waker.Close)
	h.Waker = boot.NewWaker(h.Settings, h.Log, waker.Wake)
	return nil
}

// OpenQueue opens the queues that the settings name; nil where they name none. Visibility is for those who receive, and
// zero for the others; see gcp.QueueOptions.
func (h *Host) OpenQueue(ctx context.Context, visibility time.Duration) (core.Queue, error) {
	return h.Settings.OpenQueues(func(urls map[core.Priority]string) (core.Queue, error) {
		return gcp.OpenQueue(ctx, urls, gcp.QueueOptions{Visibility: visibility})
	})
}

// Begin begins a request; what it returns ends it. A container without requests gets no CPU: connections that may have
// died meanwhile are not trusted, and what is known of types is read again where it has grown old.
func (h *Host) Begin(ctx context.Context) (end func()) {
	if h.wakes() {
		h.Store.AfterFreeze()
		h.Webhooks.Close()
	}
	if err := h.Types.Fresh(ctx); err != nil && !errors.Is(err, context.Canceled) { // whoever called may be gone
		h.Log.Error("types not read", "error", err)
	}
	return func() {
		h.Waker.Flush(ctx)
		h.ended()
	}
}

// wakes counts a request in and reports whether it is the first after a time without any.
func (h *Host) wakes() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active++
	return h.active == 1 && time.Now().Round(0).Sub(h.last.Round(0)) > frozenAfter // by the wall clock: the other one may have stood still
}

// ended counts a request out.
func (h *Host) ended() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active--
	h.last = time.Now()
}

// Close closes what Open opened. Nothing may be at work.
func (h *Host) Close() error {
	var err error
	if h.Webhooks != nil {
		h.Webhooks.Close()
	}
	if h.Store != nil {
		err = h.Store.Close()
	}
	for _, closes := range h.closers {
		err = errors.Join(err, closes())
	}
	return err
}

// containerName names this container among all: the revision or pool, and chance.
func containerName() string {
	return boot.InstanceName(cmp.Or(os.Getenv("K_REVISION"), os.Getenv("CLOUD_RUN_WORKER_POOL"), "cloudrun"))
}
