package rabbit

import (
	"context"
	"errors"
	"net"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	dialTimeout   = 10 * time.Second
	heartbeat     = 10 * time.Second // after twice this without a sign a connection counts as dead
	hangUpTimeout = time.Second
	delayKept     = time.Minute // a queue that delays outlives the delay by this
)

// connection is a connection with the wire under it, which can be cut when the server does not answer.
type connection struct {
	*amqp.Connection
	wire net.Conn
}

// connect dials a server. ctx is for this only.
func connect(ctx context.Context, server string) (*connection, error) {
	c := &connection{}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	dial := func(network, address string) (net.Conn, error) {
		var dialer net.Dialer
		wire, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c.wire = wire
		return wire, wire.SetDeadline(time.Now().Add(dialTimeout)) // the client takes it off when it is through
	}
	var err error
	c.Connection, err = amqp.DialConfig(server, amqp.Config{Heartbeat: heartbeat, Dial: dial})
	if err != nil {
		return nil, plain(err)
	}
	return c, nil
}

// cut ends what goes on over the connection, for good.
func (c *connection) cut() { _ = c.wire.Close() }

// hangUp closes the connection, in order if the server lets it.
func (c *connection) hangUp(ctx context.Context) error {
	stop := context.AfterFunc(ctx, c.cut)
	defer stop()
	err := c.CloseDeadline(time.Now().Add(hangUpTimeout))
	c.cut()
	if errors.Is(err, amqp.ErrClosed) {
		return nil
	}
	return err
}

// declare makes a priority's queue and its dead letters, or finds them as they should be.
func (p place) declare(ch *amqp.Channel) error {
	if _, err := ch.QueueDeclare(p.dead(), true, false, false, false, amqp.Table{"x-queue-type": "quorum"}); err != nil {
		return err
	}
	_, err := ch.QueueDeclare(p.queue, true, false, false, false, amqp.Table{
		"x-queue-type": "quorum", "x-delivery-limit": p.limit,
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": p.dead(),
	})
	return err
}

// declareDelay makes the queue that holds messages for so long and then hands them to the priority's queue. Nobody
// receives from it. It goes when it was not used for a while.
func (p place) declareDelay(ch *amqp.Channel, delay time.Duration) (string, error) {
	name := p.queue + ".delay." + strconv.FormatInt(delay.Milliseconds(), 10)
	_, err := ch.QueueDeclare(name, true, false, false, false, amqp.Table{
		"x-message-ttl": delay.Milliseconds(), "x-expires": (delay + delayKept).Milliseconds(),
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": p.queue,
	})
	return name, err
}

// confirming opens a channel that says what became of each message.
func (c *connection) confirming() (*amqp.Channel, error) {
	ch, err := c.Channel()
	if err != nil {
		return nil, err
	}
	return ch, ch.Confirm(false)
}

// persistent is a message that survives a restart of the server.
func persistent(body []byte) amqp.Publishing {
	return amqp.Publishing{DeliveryMode: amqp.Persistent, ContentType: "application/json", Body: body}
}
