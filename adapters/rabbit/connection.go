package rabbit

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/belfry-dev/belfry/core/dialfault"
)

const (
	dialTimeout   = 10 * time.Second
	heartbeat     = 5 * time.Second
	quiet         = 3 * heartbeat // a connection without a byte for this long is dead
	hangUpTimeout = time.Second
	delayKept     = time.Minute // a queue that delays is deleted this long after its delay
)

// connection is a connection with access to its socket, so that it can be cut when the server does not answer.
type connection struct {
	*amqp.Connection
	wire net.Conn
}

// wire is a socket that fails if nothing arrives or leaves for too long. The client has such a timeout, but does not apply
// it while it sends its own frames.
type wire struct{ net.Conn }

func (w wire) Read(b []byte) (int, error) {
	if err := w.SetReadDeadline(time.Now().Add(quiet)); err != nil {
		return 0, err
	}
	return w.Conn.Read(b)
}

func (w wire) Write(b []byte) (int, error) {
	if err := w.SetWriteDeadline(time.Now().Add(quiet)); err != nil {
		return 0, err
	}
	return w.Conn.Write(b)
}

// connect dials a server. ctx only bounds this call.
func connect(ctx context.Context, server string) (*connection, error) {
	c := &connection{}
	limited, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	stop := func() bool { return true }
	dial := func(network, address string) (net.Conn, error) {
		var dialer net.Dialer
		conn, err := dialer.DialContext(limited, network, address)
		if err != nil {
			return nil, err
		}
		c.wire = wire{conn}
		stop = context.AfterFunc(ctx, c.cut)
		return c.wire, nil
	}
	var err error
	c.Connection, err = amqp.DialConfig(server, amqp.Config{Heartbeat: heartbeat, Dial: dial})
	if !stop() {
		err = ctx.Err() // the connection was cut
	}
	if err != nil {
		return nil, connectFault(server, err)
	}
	return c, nil
}

// connectFault describes a failed connection: the server and the cause. The client's own texts contain Go names, a
// resolver's address, or protocol numbers.
func connectFault(server string, err error) error {
	host := "the server"
	if uri, fault := amqp.ParseURI(server); fault == nil {
		host = net.JoinHostPort(uri.Host, strconv.Itoa(uri.Port))
	}
	says := func(text string) error {
		return &dialfault.Error{Text: "no connection to " + host + ": " + text, Err: err}
	}
	var answer *amqp.Error
	var name *net.DNSError
	switch errors.As(err, &answer); {
	case errors.Is(err, amqp.ErrCredentials):
		return says("RabbitMQ refuses the user or the password")
	case errors.Is(err, amqp.ErrVhost):
		return says("RabbitMQ refuses the vhost")
	case answer != nil && answer.Server:
		return says("RabbitMQ says: " + answer.Reason)
	case answer != nil && strings.Contains(answer.Reason, "timeout"): // the client only keeps the text of an error that ends a connection
		return says("no answer in time; is RabbitMQ running there?")
	case answer != nil && (strings.Contains(answer.Reason, "EOF") || strings.Contains(answer.Reason, "reset")):
		return says("the connection was closed before an answer came; is RabbitMQ running there?")
	case errors.Is(err, context.Canceled):
		return says("the call was cancelled")
	case dialfault.Cause(err) == "":
		return says("what answers there is not RabbitMQ")
	case errors.As(err, &name), dialfault.CertificateFault(err) != "":
		return dialfault.NewError(host, err, "")
	}
	return dialfault.NewError(host, err, "is RabbitMQ running there?")
}

// cut breaks the connection for good.
func (c *connection) cut() { _ = c.wire.Close() }

// hangUp closes the connection in the orderly way if the server answers.
func (c *connection) hangUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, hangUpTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, c.cut)
	defer stop()
	err := c.CloseDeadline(time.Now().Add(hangUpTimeout))
	c.cut()
	if errors.Is(err, amqp.ErrClosed) {
		return nil
	}
	return err
}

// declare declares a priority's queue and its dead letters, or checks that they are as expected. They are classic queues: a
// quorum queue loses acknowledgements sent shortly before a connection closes, and takes a round through its log for each
// consumer. Losing a queue loses no job, because the rows have everything.
func (p place) declare(ch *amqp.Channel) error {
	if _, err := ch.QueueDeclare(p.dead(), true, false, false, false, amqp.Table{"x-queue-type": "classic"}); err != nil {
		return err
	}
	_, err := ch.QueueDeclare(p.queue, true, false, false, false, amqp.Table{
		"x-queue-type": "classic", "x-dead-letter-exchange": "", "x-dead-letter-routing-key": p.dead(),
	})
	return err
}

// declareDelay declares the queue that holds messages for delay and then passes them to the priority's queue. It has no
// consumers, and RabbitMQ deletes it when it is unused for a while.
func (p place) declareDelay(ch *amqp.Channel, delay time.Duration) (string, error) {
	name := p.queue + ".delay." + strconv.FormatInt(delay.Milliseconds(), 10)
	_, err := ch.QueueDeclare(name, true, false, false, false, amqp.Table{
		"x-queue-type": "classic", "x-message-ttl": delay.Milliseconds(), "x-expires": (delay + delayKept).Milliseconds(),
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": p.queue,
	})
	return name, err
}

// confirming opens a channel on which the server confirms each message.
func (c *connection) confirming() (*amqp.Channel, error) {
	ch, err := c.Channel()
	if err != nil {
		return nil, err
	}
	return ch, ch.Confirm(false)
}

// persistent returns a message that survives a restart of the server.
func persistent(body []byte) amqp.Publishing {
	return amqp.Publishing{DeliveryMode: amqp.Persistent, ContentType: "application/json", Body: body}
}
