package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/rabbit"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/internal/node"
)

// elsewhere are schemes of queues that other programs open.
var elsewhere = map[string]string{
	"awssqs":      "Amazon SQS is for the programs of functions/…/lambda and functions/…/ecs (docs/aws.md)",
	"gcppubsub":   "Google Pub/Sub is for the programs of functions/…/cloudrun and functions/…/workerpool",
	"gcppubsubv2": "Google Pub/Sub is for the programs of functions/…/cloudrun and functions/…/workerpool",
}

func queueURLs(s boot.Settings) map[core.Priority]string {
	return map[core.Priority]string{core.Critical: s.QueueCriticalURL, core.Default: s.QueueDefaultURL, core.Bulk: s.QueueBulkURL}
}

// inMemory reports whether the queues are mem://.
func inMemory(s boot.Settings) bool { return strings.HasPrefix(s.QueueDefaultURL, "mem://") }

// checkQueues refuses queues that this program cannot open, or that would not join its roles.
func checkQueues(s boot.Settings, roles node.Roles) error {
	if !s.QueueMode() {
		return nil
	}
	kinds := map[string]bool{}
	for _, p := range core.Priorities {
		name := "BELFRY_QUEUE_" + strings.ToUpper(p.String()) + "_URL"
		if u, err := url.Parse(queueURLs(s)[p]); err == nil && elsewhere[u.Scheme] != "" {
			return fmt.Errorf("%s: scheme %q: %s; here: amqp, amqps, mem", name, u.Scheme, elsewhere[u.Scheme])
		}
		u, err := core.QueueURL(queueURLs(s)[p], "amqp", "amqps", "mem")
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		kinds[strings.TrimSuffix(u.Scheme, "s")] = true
	}
	if len(kinds) > 1 {
		return fmt.Errorf("BELFRY_QUEUE_DEFAULT_URL: the three queues are of different kinds: want amqp (or amqps) for all, or mem for all")
	}
	if inMemory(s) && roles.Tick != roles.Worker {
		return fmt.Errorf("-role %s: mem:// queues live in one process: run tick and worker in it together, or unset the queues (BELFRY_QUEUE_*_URL)", roles)
	}
	return nil
}

// openQueue returns nil in direct mode. It calls nobody.
func openQueue(ctx context.Context, s boot.Settings) (queue core.Queue, err error) {
	switch {
	case !s.QueueMode():
		return nil, nil
	case inMemory(s):
		queue, err = local.Open(queueURLs(s))
	default:
		queue, err = rabbit.OpenQueue(ctx, queueURLs(s), rabbit.QueueOptions{})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", queues, err)
	}
	return queue, nil
}
