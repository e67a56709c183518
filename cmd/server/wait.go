package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
)

const (
	retryMin   = 250 * time.Millisecond
	retryMax   = 2 * time.Second
	tellEvery  = 10 * time.Second
	askTimeout = 10 * time.Second // of one attempt to open a queue
)

// patient opens what a server stands on, and waits for those that are not up yet.
type patient struct {
	log   *slog.Logger
	until time.Time
}

// await tries until it succeeds, fails in a way that waiting does not mend, the time is over or ctx ends.
func (p patient) await(ctx context.Context, what, setting string, try func(context.Context) error, waitable func(error) bool) error {
	var told time.Time
	for wait := retryMin; ; wait = min(2*wait, retryMax) {
		err := try(ctx)
		switch {
		case err == nil:
			if !told.IsZero() {
				p.log.Info("is up", "what", what)
			}
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("told to stop while waiting for %s: %w", what, err)
		case !waitable(err):
			return fmt.Errorf("%s: %w", setting, err)
		}
		left := time.Until(p.until)
		if left <= 0 {
			return fmt.Errorf("%s: waited for %s as long as BELFRY_START_WAIT allows: %w", setting, what, err)
		}
		if time.Since(told) >= tellEvery {
			told = time.Now()
			p.log.Warn("waiting", "what", what, "left", left.Round(time.Second).String(), "error", err)
		}
		select {
		case <-time.After(min(wait, left)):
		case <-ctx.Done():
		}
	}
}

// migrate brings the schema up to date. Any number of servers may do so at once. A migration that is under way is
// never cut short by the end of the wait.
func (p patient) migrate(ctx context.Context, url string) error {
	migrator := postgres.Migrator{
		Waiting: func(reason string) { p.log.Warn("waiting", "what", "a migration", "reason", reason) },
		Applied: boot.MigrationsApplied(p.log),
	}
	return p.await(ctx, "PostgreSQL", database, func(ctx context.Context) error { return migrator.Up(ctx, url) }, unavailable)
}

func (p patient) openStore(ctx context.Context, url string, pool int) (store *postgres.Store, err error) {
	err = p.await(ctx, "PostgreSQL", database, func(ctx context.Context) error {
		store, err = postgres.Open(ctx, url, postgres.Options{PoolSize: pool, Warn: boot.DatabaseWarnings(p.log)})
		return err
	}, unavailable)
	return store, err
}

// Settings that name what is waited for: what waiting does not mend is mended there.
const (
	database = "BELFRY_DATABASE_URL"
	queues   = "BELFRY_QUEUE_*_URL"
)

func unavailable(err error) bool { return errors.Is(err, core.ErrUnavailable) }

// tryQueue opens a topic and closes it.
func (p patient) tryQueue(ctx context.Context, queue core.Queue) error {
	return p.await(ctx, "the queues", queues, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		topic, err := queue.OpenTopic(ctx, core.Default)
		if err != nil {
			return err
		}
		return topic.Close(ctx)
	}, func(error) bool { return true })
}
