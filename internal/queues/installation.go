package queues

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/queueserver"
)

// The kinds of queue that an installation can have.
const (
	SQS    = "sqs"
	PubSub = "pubsub"
	Rabbit = "rabbit"
)

// maxDeliveries is after how many deliveries a message becomes a dead letter, as the documents advise for workers that
// pull.
const maxDeliveries = 20

// Installation is a server of its own with a queue for each priority, and dead letters for each of them. The names are
// those of the deployed ones.
type Installation struct {
	Kind   string
	URLs   map[core.Priority]string
	Server *queueserver.Server
	// Durable says that messages survive the server's end.
	Durable bool

	more  []string // of the environment
	count func(ctx context.Context, queue string) (int, error)
}

// Install starts a server of a kind and makes the queues. The caller closes the Server.
func Install(ctx context.Context, kind string) (*Installation, error) {
	install := map[string]func(context.Context) (*Installation, error){SQS: installSQS, PubSub: installPubSub, Rabbit: installRabbit}[kind]
	if install == nil {
		return nil, fmt.Errorf("queue %q: want %s, %s or %s", kind, SQS, PubSub, Rabbit)
	}
	i, err := install(ctx)
	if err != nil {
		return nil, fmt.Errorf("queues: install %s: %w", kind, err)
	}
	i.Kind = kind
	return i, nil
}

// Environment gives the queues to a process: their URLs, and what it needs to reach them.
func (i *Installation) Environment() []string {
	all := slices.Clone(i.more)
	for p, url := range i.URLs {
		all = append(all, "BELFRY_QUEUE_"+strings.ToUpper(p.String())+"_URL="+url)
	}
	return all
}

// Left counts the messages that are still in the queues, and the dead letters.
func (i *Installation) Left(ctx context.Context) (messages, dead int, err error) {
	for _, p := range core.Priorities {
		n, err := i.count(ctx, name(p))
		if err != nil {
			return 0, 0, fmt.Errorf("queues: count the %s queue: %w", p, err)
		}
		d, err := i.count(ctx, deadName(p))
		if err != nil {
			return 0, 0, fmt.Errorf("queues: count the dead letters of the %s queue: %w", p, err)
		}
		messages, dead = messages+n, dead+d
	}
	return messages, dead, nil
}

func name(p core.Priority) string     { return "belfry-" + p.String() }
func deadName(p core.Priority) string { return name(p) + "-dead" }
