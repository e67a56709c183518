package webhook

import (
	"errors"
	"net"
	"syscall"
)

// answeredConn makes an answer readable if the target closes the connection before it has read the whole request. The target
// has answered then, and the rest of the request does not matter. But the transport treats a failed write as the end of the
// exchange, even before it reads everything that has arrived. So a write that fails because the connection is closed counts
// as done. If there is an answer, the transport reads it next; if there is none, the read fails in the same way.
type answeredConn struct{ net.Conn }

func (c *answeredConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	for _, over := range []error{syscall.EPIPE, syscall.ECONNRESET, net.ErrClosed} { // ErrClosed: closed by the transport because a read failed first
		if errors.Is(err, over) {
			return len(p), nil
		}
	}
	return n, err
}
