// Package onaws is AWS as a platform: Amazon RDS, SQS, Secrets Manager, and a Lambda function as the tick.
package onaws

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host"
)

const (
	containerOpenTimeout = 30 * time.Second // of the start; after it the container ends and says why, and another begins
	functionOpenTimeout  = 8 * time.Second  // Lambda gives the start ten
	functionPool         = 2                // connections of one environment, which serves one invocation at a time
)

// Container is the platform of containers that run all the time: on ECS, Fargate, EC2 or elsewhere with a role.
func Container() host.Platform {
	name, _ := os.Hostname()
	return platform(cmp.Or(name, "container"), containerOpenTimeout, func(s boot.Settings) postgres.Options {
		return postgres.Options{PoolSize: s.DatabasePool}
	})
}

// Function is the platform of functions on Lambda. The name is the function's. A connection that is idle for longer than
// idle is closed.
func Function(name string, idle time.Duration) host.Platform {
	p := platform(name, functionOpenTimeout, func(s boot.Settings) postgres.Options {
		return postgres.Options{PoolSize: min(s.DatabasePool, functionPool), IdleTime: idle}
	})
	p.Environment = readSecrets
	return p
}

func platform(where string, timeout time.Duration, database func(boot.Settings) postgres.Options) host.Platform {
	return host.Platform{
		Cloud: boot.AWS, Where: where, OpenTimeout: timeout,
		OpenStore: func(ctx context.Context, h *host.Host) (core.Store, error) {
			return openStore(ctx, h, database(h.Settings))
		},
		OpenQueue: func(ctx context.Context, urls map[core.Priority]string, visibility time.Duration) (core.Queue, error) {
			return aws.OpenQueue(ctx, urls, aws.QueueOptions{Visibility: visibility})
		},
		OpenWaker: func(ctx context.Context, _ *host.Host, address string) (func(context.Context) error, error) {
			waker, err := aws.NewWaker(ctx, address)
			if err != nil {
				return nil, err
			}
			return waker.Wake, nil
		},
	}
}

func openStore(ctx context.Context, h *host.Host, o postgres.Options) (core.Store, error) {
	o.Warn = boot.DatabaseWarnings(h.Log)
	if h.Settings.RDSIAM {
		tokens, err := aws.NewDatabaseTokens(ctx, h.Settings.DatabaseURL)
		if err != nil {
			return nil, err
		}
		o.Password = tokens.Password
	}
	store, err := postgres.Open(ctx, h.Settings.DatabaseURL, o)
	if err != nil {
		return nil, fmt.Errorf("BELFRY_DATABASE_URL: %w", err)
	}
	return store, nil
}
