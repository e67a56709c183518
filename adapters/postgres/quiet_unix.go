//go:build unix

package postgres

import (
	"errors"
	"net"
	"syscall"
)

// quiet reports whether nothing is there to be read from an idle connection, not even its end. It takes nothing away,
// waits for nothing and costs one system call. Where it cannot tell it says yes.
func quiet(conn net.Conn) bool {
	for {
		inner, wrapped := conn.(interface{ NetConn() net.Conn })
		if !wrapped {
			break
		}
		conn = inner.NetConn()
	}
	system, ok := conn.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := system.SyscallConn()
	if err != nil {
		return true
	}
	silent := true
	// Not Read: it would wait for a read that the driver may have under way in the background.
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		silent = errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR)
	})
	return err != nil || silent
}
