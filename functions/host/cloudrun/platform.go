package cloudrun

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/belfry-dev/belfry/adapters/gcp"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host"
)

const openTimeout = 30 * time.Second // Cloud Run gives the start minutes; one that takes long had better say why

// Platform is Google Cloud: services, worker pools and jobs on Cloud Run, Cloud SQL, Pub/Sub.
func Platform() host.Platform {
	return host.Platform{
		Cloud: boot.Google, OpenTimeout: openTimeout,
		Where: cmp.Or(os.Getenv("K_REVISION"), os.Getenv("CLOUD_RUN_WORKER_POOL"), "cloudrun"),
		// The front end keeps connections for long, and must be the one to close them; and it needs a moment until no request
		// comes any more.
		Defaults:  map[string]string{"BELFRY_KEEP_ALIVE": "15m", "BELFRY_STOP_DELAY": MaxDelay.String()},
		Logger:    func(s boot.Settings) *slog.Logger { return NewLogger(s, os.Stderr) },
		OpenStore: openStore,
		OpenQueue: func(ctx context.Context, urls map[core.Priority]string, visibility time.Duration) (core.Queue, error) {
			return gcp.OpenQueue(ctx, urls, gcp.QueueOptions{Visibility: visibility})
		},
		OpenWaker: func(ctx context.Context, h *host.Host, address string) (func(context.Context) error, error) {
			waker, err := gcp.NewWaker(ctx, address)
			if err != nil {
				return nil, err
			}
			h.CloseLater(waker.Close)
			return waker.Wake, nil
		},
	}
}

// ServiceName names the service whose container this is.
func ServiceName() string { return cmp.Or(os.Getenv("K_SERVICE"), "cloudrun") }

func openStore(ctx context.Context, h *host.Host) (core.Store, error) {
	o, closeDatabase, err := databaseOptions(ctx, h.Settings)
	if err != nil {
		return nil, err
	}
	if closeDatabase != nil {
		h.CloseLater(closeDatabase)
	}
	o.Warn = boot.DatabaseWarnings(h.Log)
	store, err := postgres.Open(ctx, h.Settings.DatabaseURL, o)
	if err != nil {
		return nil, fmt.Errorf("BELFRY_DATABASE_URL: %w", err)
	}
	return store, nil
}

// databaseOptions says how the store connects. What it returns beside them, if anything, is closed after the store.
func databaseOptions(ctx context.Context, s boot.Settings) (postgres.Options, func() error, error) {
	o := postgres.Options{PoolSize: s.DatabasePool}
	if s.CloudSQLInstance == "" {
		return o, nil, nil
	}
	connector, err := gcp.OpenCloudSQL(ctx, s.CloudSQLInstance, gcp.CloudSQLOptions{IAM: s.CloudSQLIAM, IP: s.CloudSQLIP})
	if err != nil {
		return o, nil, err
	}
	o.Dial, o.ConnectTimeout = connector.Dial, gcp.DialTimeout
	return o, connector.Close, nil
}
