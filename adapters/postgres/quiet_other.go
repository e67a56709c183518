//go:build !unix

package postgres

import "net"

// idleCheck cannot tell anything here.
type idleCheck struct{}

func newIdleCheck(net.Conn) *idleCheck { return &idleCheck{} }

func (*idleCheck) quiet() bool { return true }
