// Package lambda opens what functions on AWS Lambda stand on, and keeps it fit across the times they are frozen.
package lambda

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/boot"
)

const (
	maxConnections = 2               // of one environment, which serves one invocation at a time
	openTimeout    = 8 * time.Second // Lambda gives the start ten
	frozenAfter    = time.Second     // between invocations, from which on connections are asked whether they live
)

// Function is what a function stands on. It serves one invocation at a time.
type Function struct {
	Settings boot.Settings
	Store    *postgres.Store
	Types    *typecache.Cache
	Webhooks *boot.Webhooks
	Name     string // of this environment among all
	Log      *slog.Logger
	Waker    *boot.Waker // of the tick; nil where it needs none
	last     time.Time   // when it was last invoked or at work
}

// Options of a function. The zero value is ready.
type Options struct {
	IdleTime time.Duration // after which a connection is closed. Zero means one minute
}

// Main opens everything and serves invocations with the handler that serve makes, until Lambda ends the process. What
// cannot be opened ends it at once; Lambda then starts another.
func Main(o Options, serve func(context.Context, *Function) (any, error)) {
	ctx := context.Background()
	f, err := open(ctx, o)
	var handler any
	if err == nil {
		handler, err = serve(ctx, f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lambda.Start(handler)
}

func open(ctx context.Context, options Options) (*Function, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	settings, err := readSettings(ctx)
	if err != nil {
		return nil, err
	}
	f := &Function{Settings: settings, Log: boot.NewLogger(settings, os.Stderr), last: time.Now()}
	f.Name = boot.InstanceName(lambdacontext.FunctionName)
	boot.QuietStandardLog(f.Log)
	o := postgres.Options{PoolSize: min(settings.DatabasePool, maxConnections), IdleTime: cmp.Or(options.IdleTime, time.Minute), Warn: boot.DatabaseWarnings(f.Log)}
	if settings.RDSIAM {
		tokens, err := aws.NewDatabaseTokens(ctx, settings.DatabaseURL)
		if err != nil {
			return nil, err
		}
		o.Password = tokens.Password
	}
	if f.Store, err = postgres.Open(ctx, settings.DatabaseURL, o); err != nil {
		return nil, fmt.Errorf("BELFRY_DATABASE_URL: %w", err)
	}
	f.Types = typecache.New(f.Store, typecache.Options{})
	if f.Webhooks, err = boot.OpenWebhooks(ctx, settings, f.Store, boot.WebhookOptions{Log: f.Log}); err != nil || settings.TickWake == "" {
		return f, err
	}
	waker, err := aws.NewWaker(ctx, settings.TickWake)
	if err != nil {
		return nil, fmt.Errorf("BELFRY_TICK_WAKE: %w", err)
	}
	f.Waker = boot.NewWaker(settings, f.Log, waker.Wake)
	return f, nil
}

// readSettings reads the settings, and the secrets that they name.
func readSettings(ctx context.Context) (boot.Settings, error) {
	if err := readSecrets(ctx); err != nil {
		return boot.Settings{}, err
	}
	settings, err := boot.ReadSettings()
	if err == nil {
		err = settings.CheckCloud(boot.AWS)
	}
	if err == nil && settings.DatabaseURL == "" {
		err = fmt.Errorf("%s is not set", databaseSetting)
	}
	return settings, err
}

// OpenQueue opens the queues that the settings name; nil where they name none.
func (f *Function) OpenQueue(ctx context.Context) (core.Queue, error) {
	return f.Settings.OpenQueues(func(urls map[core.Priority]string) (core.Queue, error) {
		return aws.OpenQueue(ctx, urls, aws.QueueOptions{})
	})
}

// Begin begins an invocation; what it returns ends it. Connections that may have died while the function was frozen are
// not trusted, and what is known of types is read again where it has grown old.
func (f *Function) Begin(ctx context.Context) (end func()) {
	if time.Now().Round(0).Sub(f.last.Round(0)) > frozenAfter { // by the wall clock: the other one may have stood still
		f.Store.AfterFreeze()
		f.Webhooks.Close()
	}
	if err := f.Types.Fresh(ctx); err != nil {
		f.Log.Error("types not read", "error", err)
	}
	return func() {
		f.Waker.Flush(ctx)
		f.last = time.Now()
	}
}
