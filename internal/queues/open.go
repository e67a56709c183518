package queues

import (
	"context"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/adapters/gcp"
	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/adapters/queueurl"
	"github.com/belfry-dev/belfry/adapters/rabbit"
	"github.com/belfry-dev/belfry/core"
)

// Open opens the queues that the URLs name, one for each priority, by the adapter of their scheme. Messages in hand are
// hidden from others for visibility at a time, where the queue can: a worker's lease.
func Open(ctx context.Context, urls map[core.Priority]string, visibility time.Duration) (core.Queue, error) {
	scheme, _, _ := strings.Cut(urls[core.Default], "://")
	switch scheme {
	case "awssqs":
		return aws.OpenQueue(ctx, urls, aws.QueueOptions{Visibility: visibility})
	case "gcppubsub", "gcppubsubv2":
		return gcp.OpenQueue(ctx, urls, gcp.QueueOptions{Visibility: visibility})
	case "amqp", "amqps":
		return rabbit.OpenQueue(ctx, urls, rabbit.QueueOptions{})
	case local.Scheme:
		return local.Open(urls)
	}
	_, err := queueurl.Parse(urls[core.Default], "awssqs", "gcppubsubv2", "amqp", "amqps", local.Scheme)
	return nil, err
}
