package webhook

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/belfry-dev/belfry/core/dialfault"
)

// describe describes a network error for the job's error history. It quotes only texts that are known to be harmless: others
// could contain a server's text, the network's resolvers, or the URL.
func describe(host string, err error) error {
	return fmt.Errorf("target %s: %s", host, faultText(err))
}

func faultText(err error) string {
	var (
		refused *RefusedError
		slow    *slowError
		name    *net.DNSError
		alert   tls.AlertError
		record  tls.RecordHeaderError
		timeout interface{ Timeout() bool }
	)
	certificate := dialfault.CertificateFault(err)
	switch {
	case errors.As(err, &refused):
		return refused.Error()
	case errors.As(err, &slow):
		return slow.Error()
	case errors.As(err, &name) && name.IsNotFound:
		return "the host's name is not known"
	case errors.As(err, &name):
		return "the host's name could not be looked up"
	case certificate != "":
		return "TLS: " + certificate
	case errors.As(err, &alert):
		return "TLS: " + alert.Error()
	case errors.As(err, &record):
		return "the target does not speak TLS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "unreachable"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before an answer came"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timed out while connecting"
	}
	return "the connection failed, or the answer was not HTTP"
}
