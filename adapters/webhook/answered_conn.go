package webhook

import (
	"errors"
	"net"
	"syscall"
)

// answeredConn lets an answer be read although the target closed the connection before it had read the whole request.
// The target has answered then, and what is left of the request interests nobody. But the transport takes a failed
// write of a body for the end of the exchange, before all that it has read. So a write that fails because the
// connection is over counts as done: if there is an answer, the transport reads it next; if there is none, reading
// fails as the write did.
type answeredConn struct{ net.Conn }

func (c *answeredConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	for _, over := range []error{syscall.EPIPE, syscall.ECONNRESET, net.ErrClosed} { // closed: by the transport, when reading failed first
		if errors.Is(err, over) {
			return len(p), nil
		}
	}
	return n, err
}
