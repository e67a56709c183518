package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// lostBy says why there is no answer, for people: what was tried, and what became of it. host is the server's, with its port.
func lostBy(err error, host string) string {
	var op *net.OpError
	errors.As(err, &op)
	switch {
	case op != nil && op.Op == "proxyconnect":
		return "no connection to the proxy: " + causeOf(op.Err)
	case op != nil && op.Op == "dial":
		return fmt.Sprintf("no connection to %s%s: %s", host, dialed(op, host), causeOf(op.Err))
	case errors.Is(err, io.EOF):
		return "the connection was closed before the answer came (EOF)"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer ends too early (EOF)"
	}
	return causeOf(err)
}

// dialed is the address that a host's name led to.
func dialed(op *net.OpError, host string) string {
	if op.Addr == nil || op.Addr.String() == host {
		return ""
	}
	return " (" + op.Addr.String() + ")"
}

// causeOf is what went wrong at last, without the names that Go's packages put before it.
func causeOf(err error) string {
	var dns *net.DNSError
	var cause syscall.Errno
	var late interface{ Timeout() bool }
	text := ""
	if err != nil {
		text = err.Error()
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &late) && late.Timeout():
		return "no answer in time"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no host " + dns.Name
	case errors.As(err, &dns):
		return "the name " + dns.Name + " cannot be looked up"
	case errors.As(err, &cause):
		return cause.Error()
	case strings.Contains(text, "malformed HTTP"):
		return "the answer is malformed HTTP: something else is there"
	case strings.Contains(text, "server gave HTTP response to HTTPS client"), strings.Contains(text, "does not look like a TLS handshake"):
		return "the server does not speak TLS there: is http:// meant?"
	}
	return strings.TrimPrefix(strings.TrimPrefix(text, "net/http: "), "http: ")
}
