//go:build unix

package postgres

import (
	"errors"
	"net"
	"syscall"
)

// idleCheck looks whether an idle connection is quiet. It is made once for a connection, so that looking allocates nothing.
type idleCheck struct {
	raw    syscall.RawConn // nil where nothing can be told
	look   func(fd uintptr)
	silent bool // what look found
	one    [1]byte
}

func newIdleCheck(conn net.Conn) *idleCheck {
	for {
		inner, wrapped := conn.(interface{ NetConn() net.Conn })
		if !wrapped {
			break
		}
		conn = inner.NetConn()
	}
	c := &idleCheck{}
	if system, ok := conn.(syscall.Conn); ok {
		if raw, err := system.SyscallConn(); err == nil {
			c.raw = raw
		}
	}
	// Not Read: it would wait for a read that the driver may have under way in the background.
	c.look = func(fd uintptr) {
		_, _, err := syscall.Recvfrom(int(fd), c.one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		c.silent = errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR)
	}
	return c
}

// quiet reports whether nothing is there to be read from the connection, not even its end. It takes nothing away, waits for
// nothing and costs one system call. Where it cannot tell it says yes. One call at a time.
func (c *idleCheck) quiet() bool {
	if c.raw == nil {
		return true
	}
	c.silent = true
	return c.raw.Control(c.look) != nil || c.silent
}
