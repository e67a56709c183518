// Package dialfault words why a connection failed. Programs that connect to PostgreSQL, RabbitMQ or the API use the same words.
package dialfault

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// To says that there is no connection to host, which is a host with its port, and why. The address that the host's name
// led to stands behind it. It quotes only texts that are known to be harmless: others may hold a password, or the
// address of a resolver.
func To(host string, err error) string {
	text := "no connection to " + host
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" && op.Addr != nil && op.Addr.String() != host {
		text += " (" + op.Addr.String() + ")"
	}
	if cause := Cause(err); cause != "" {
		text += ": " + cause
	}
	return text
}

// Cause says in a few words what went wrong at last, without the names that Go's packages put before it; "" where this
// package does not know.
func Cause(err error) string {
	var dns *net.DNSError
	var system syscall.Errno
	var late interface{ Timeout() bool }
	var record tls.RecordHeaderError
	var alert tls.AlertError
	certificate := CertificateFault(err)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no host " + dns.Name
	case errors.As(err, &dns):
		return "the name " + dns.Name + " cannot be looked up"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &late) && late.Timeout():
		return "no answer in time"
	case errors.As(err, &system):
		return system.Error()
	case certificate != "":
		return "TLS: " + certificate
	case errors.As(err, &record):
		return "the server does not speak TLS there"
	case errors.As(err, &alert):
		return "TLS: the server refused the handshake (" + alert.Error() + ")"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed before an answer came"
	}
	return ""
}

// CertificateFault says why a server's certificate was not taken; "" where err is not about one. The library's own text
// lists all names and addresses that the certificate is for.
func CertificateFault(err error) string {
	var (
		verification *tls.CertificateVerificationError
		name         x509.HostnameError
		signer       x509.UnknownAuthorityError
		invalid      x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &name):
		return "the certificate is for other names"
	case errors.As(err, &signer):
		return "the certificate is signed by an unknown authority"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired or is not valid yet"
	case errors.As(err, &invalid), errors.As(err, &verification):
		return "the certificate is not valid"
	}
	return ""
}

// Error is a fault of a connection in words. Err is what it was, for errors.Is and errors.As.
type Error struct {
	Text string
	Err  error
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Err }

// NewError is an Error with the text of To, and with hint behind it where there is one.
func NewError(host string, err error, hint string) *Error {
	text := To(host, err)
	if hint != "" {
		text = fmt.Sprintf("%s; %s", text, hint)
	}
	return &Error{text, err}
}
