// Package ecs opens what containers on AWS stand on that run all the time: on ECS, Fargate, EC2 or elsewhere with a role.
package ecs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/boot"
)

const openTimeout = 30 * time.Second // of the start; after it the container ends and says why, and another begins

// Host is what a container stands on.
type Host struct {
	Settings boot.Settings
	Store    *postgres.Store
	Types    *typecache.Cache // whoever runs keeps it fresh with its Run
	Webhooks *boot.Webhooks
	Log      *slog.Logger
	Name     string      // of this container among all
	Waker    *boot.Waker // of the tick; nil where it needs none
}

// Open reads the settings and opens everything else. What it opened is closed by Close.
func Open(ctx context.Context) (*Host, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	settings, err := boot.ReadSettings()
	if err == nil {
		err = settings.CheckCloud(boot.AWS)
	}
	if err != nil {
		return nil, err
	}
	if settings.DatabaseURL == "" {
		return nil, errors.New("BELFRY_DATABASE_URL is not set")
	}
	h := &Host{Settings: settings, Log: boot.NewLogger(settings, os.Stderr), Name: containerName()}
	boot.QuietStandardLog(h.Log)
	if err := h.open(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Host) open(ctx context.Context) error {
	o := postgres.Options{PoolSize: h.Settings.DatabasePool, Warn: boot.DatabaseWarnings(h.Log)}
	if h.Settings.RDSIAM {
		tokens, err := aws.NewDatabaseTokens(ctx, h.Settings.DatabaseURL)
		if err != nil {
			return err
		}
		o.Password = tokens.Password
	}
	var err error
	if h.Store, err = postgres.Open(ctx, h.Settings.DatabaseURL, o); err != nil {
		return fmt.Errorf("BELFRY_DATABASE_URL: %w", err)
	}
	h.Types = typecache.New(h.Store, typecache.Options{OnError: func(err error) { h.Log.Error("types not read", "error", err) }})
	if h.Webhooks, err = boot.OpenWebhooks(ctx, h.Settings, h.Store, boot.WebhookOptions{Log: h.Log}); err != nil || h.Settings.TickWake == "" {
		return err
	}
	waker, err := aws.NewWaker(ctx, h.Settings.TickWake)
	if err != nil {
		return fmt.Errorf("BELFRY_TICK_WAKE: %w", err)
	}
	h.Waker = boot.NewWaker(h.Settings, h.Log, waker.Wake)
	return nil
}

// OpenQueue opens the queues that the settings name; nil where they name none. Visibility is for those who receive, and
// zero for the others; see aws.QueueOptions.
func (h *Host) OpenQueue(ctx context.Context, visibility time.Duration) (core.Queue, error) {
	return h.Settings.OpenQueues(func(urls map[core.Priority]string) (core.Queue, error) {
		return aws.OpenQueue(ctx, urls, aws.QueueOptions{Visibility: visibility})
	})
}

// Close closes what Open opened. Nothing may be at work.
func (h *Host) Close() error {
	if h.Webhooks != nil {
		h.Webhooks.Close()
	}
	if h.Store == nil {
		return nil
	}
	return h.Store.Close()
}

// containerName names this container among all: its host's name, and chance.
func containerName() string {
	host, _ := os.Hostname()
	return boot.InstanceName(cmp.Or(host, "container"))
}
