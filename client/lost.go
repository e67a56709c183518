package client

import (
	"errors"
	"io"
	"net"
	"strings"

	"github.com/belfry-dev/belfry/core/dialfault"
)

// lostBy explains why there is no answer: what was tried, and how it failed. host is the server's, with its port.
func lostBy(err error, host string) string {
	var op *net.OpError
	errors.As(err, &op)
	switch {
	case op != nil && op.Op == "proxyconnect":
		return "no connection to the proxy: " + causeOf(op.Err)
	case op != nil && op.Op == "dial":
		return dialfault.Describe(host, err)
	case errors.Is(err, io.EOF):
		return "the connection was closed before the answer came (EOF)"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer ends too early (EOF)"
	}
	return causeOf(err)
}

// causeOf returns the innermost error's text, without the prefixes of Go's packages.
func causeOf(err error) string {
	text := ""
	if err != nil {
		text = err.Error()
	}
	switch {
	case strings.Contains(text, "malformed HTTP"):
		return "the answer is malformed HTTP: something else is there"
	case strings.Contains(text, "server gave HTTP response to HTTPS client"), strings.Contains(text, "does not look like a TLS handshake"):
		return "the server does not speak TLS there: is http:// meant?"
	}
	if cause := dialfault.Cause(err); cause != "" {
		return cause
	}
	return strings.TrimPrefix(strings.TrimPrefix(text, "net/http: "), "http: ")
}
