package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/queueurl"
	"github.com/belfry-dev/belfry/adapters/rabbit"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host/node"
)

// elsewhere are schemes of queues that other programs open.
var elsewhere = map[string]string{
	"awssqs":      "Amazon SQS is for the programs of functions/…/lambda and functions/…/ecs (docs/aws.md)",
	"gcppubsub":   "Google Pub/Sub is for the programs of functions/…/cloudrun and functions/…/workerpool",
	"gcppubsubv2": "Google Pub/Sub is for the programs of functions/…/cloudrun and functions/…/workerpool",
}

// inMemory reports whether the queues are mem://.
func inMemory(s boot.Settings) bool { return strings.HasPrefix(s.QueueDefaultURL, "mem://") }

// checkQueues refuses queues that this program cannot open, or that would not join its roles.
func checkQueues(s boot.Settings, roles node.Roles) error {
	if !s.QueueMode() {
		return nil
	}
	kinds := map[string]bool{}
	for _, q := range s.QueueURLs() {
		if u, err := url.Parse(q.URL); err == nil && elsewhere[u.Scheme] != "" {
			return fmt.Errorf("%s: scheme %q: %s; here: amqp, amqps, mem", q.Setting, u.Scheme, elsewhere[u.Scheme])
		}
		u, err := queueurl.Parse(q.URL, "amqp", "amqps", "mem")
		if err != nil {
			return fmt.Errorf("%s: %w", q.Setting, err)
		}
		kinds[strings.TrimSuffix(u.Scheme, "s")] = true
	}
	if len(kinds) > 1 {
		return fmt.Errorf("BELFRY_QUEUE_DEFAULT_URL: the queues are of different kinds: want amqp (or amqps) for all, or mem for all")
	}
	if inMemory(s) && roles.Tick != roles.Worker {
		return fmt.Errorf("-role %s: mem:// queues live in one process: run tick and worker in it together, or unset the queues (BELFRY_QUEUE_*_URL)", roles)
	}
	return nil
}

// openQueue returns nil in direct mode. It calls nobody.
func openQueue(ctx context.Context, s boot.Settings) (core.Queue, error) {
	return s.OpenQueues(func(urls map[core.Priority]string) (core.Queue, error) {
		if inMemory(s) {
			return local.Open(urls)
		}
		return rabbit.OpenQueue(ctx, urls, rabbit.QueueOptions{})
	})
}
