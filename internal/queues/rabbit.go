package queues

import (
	"context"
	"errors"
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/queueserver"
)

// installRabbit starts RabbitMQ, on which Belfry itself declares what it needs.
func installRabbit(context.Context) (*Installation, error) {
	server, err := queueserver.StartRabbit()
	if err != nil {
		return nil, err
	}
	i := &Installation{URLs: map[core.Priority]string{}, Server: server, Durable: true}
	names := map[string]string{}
	for _, p := range core.Priorities {
		i.URLs[p] = fmt.Sprintf("%s?queue=%s", server.Address(), name(p))
		names[name(p)], names[deadName(p)] = name(p), name(p)+".dead"
	}
	i.count = func(_ context.Context, queue string) (n int, err error) {
		conn, err := amqp.Dial(server.Address())
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, conn.Close()) }()
		ch, err := conn.Channel()
		if err != nil {
			return 0, err
		}
		found, err := ch.QueueDeclarePassive(names[queue], true, false, false, false, nil)
		return found.Messages, err
	}
	return i, nil
}
