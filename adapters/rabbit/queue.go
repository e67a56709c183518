package rabbit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/belfry-dev/belfry/adapters/queueurl"
	"github.com/belfry-dev/belfry/core"
)

// deliveryLimit is how often a message is delivered and given back without a delay before it becomes a dead letter.
const deliveryLimit = 20

// QueueOptions configure the use of RabbitMQ. The zero value is ready.
type QueueOptions struct {
	// DeliveryLimit is how often a message is delivered and given back without a delay before it becomes a dead letter.
	// Messages given back with a delay, or by the end of a connection, do not count. Zero means 20.
	DeliveryLimit int
}

// Queue implements core.Queue on RabbitMQ.
type Queue struct {
	opts   QueueOptions
	places map[core.Priority]place
}

// place is one queue and its server.
type place struct {
	server string
	queue  string
}

// dead returns the name of a queue's dead letters.
func (p place) dead() string { return p.queue + ".dead" }

// OpenQueue reads one URL per priority, such as amqp://user:password@host/vhost?queue=belfry.default. Without a name in the
// URL, the queue is belfry.critical, belfry.default or belfry.bulk. It makes no calls. The queues are declared when they are
// opened.
func OpenQueue(_ context.Context, urls map[core.Priority]string, opts QueueOptions) (*Queue, error) {
	if opts.DeliveryLimit == 0 {
		opts.DeliveryLimit = deliveryLimit
	}
	if opts.DeliveryLimit < 1 {
		return nil, fmt.Errorf("rabbit: delivery limit %d: want at least 1", opts.DeliveryLimit)
	}
	q := &Queue{opts: opts, places: map[core.Priority]place{}}
	seen := map[[2]string]core.Priority{}
	for _, p := range core.Priorities {
		at, err := newPlace(urls[p], p)
		if err != nil {
			return nil, fmt.Errorf("rabbit: the %s queue: %w", p, err)
		}
		if other, twice := seen[[2]string{at.server, at.queue}]; twice {
			return nil, fmt.Errorf("rabbit: the %s queue is the %s queue, too: each priority needs its own", p, other)
		}
		seen[[2]string{at.server, at.queue}] = p
		q.places[p] = at
	}
	return q, nil
}

func newPlace(address string, p core.Priority) (place, error) {
	u, err := queueurl.Parse(address, "amqp", "amqps")
	if err != nil {
		return place{}, err
	}
	at := place{queue: "belfry." + p.String()}
	values := u.Query()
	if values.Has("queue") {
		at.queue = values.Get("queue")
	}
	if at.queue == "" || len(at.queue) > 200 || strings.HasPrefix(at.queue, "amq.") {
		return place{}, errors.New("parameter queue: want a name of up to 200 bytes that does not begin with \"amq\"")
	}
	values.Del("queue")
	u.RawQuery = values.Encode()
	at.server = u.String()
	if _, err := amqp.ParseURI(at.server); err != nil {
		return place{}, err
	}
	return at, nil
}
