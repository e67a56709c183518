// Package dialfault describes why a connection failed, in the same words for PostgreSQL, RabbitMQ and the API.
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

// Describe describes a failed connection to host (a host and port) and gives its cause. If the host's name was resolved, the
// address follows it. Only texts known to be harmless are quoted: others could contain a password or a resolver's address.
func Describe(host string, err error) string {
	text := "no connection to " + host
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" && op.Addr != nil && op.Addr.String() != host {
		text += " (" + op.Addr.String() + ")"
	}
	if cause := Cause(err); cause != "" {
		text += ": " + cause
	}
	return text
}

// Cause describes the innermost error in a few words, without the prefixes of Go's packages. It returns "" for an error that
// this package does not know.
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

// CertificateFault says why a server's certificate was rejected, or returns "" if err is about something else. It does not
// quote the library's text, which lists every name and address in the certificate.
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

// Error is a connection error as readable text. Err is the original error, for errors.Is and errors.As.
type Error struct {
	Text string
	Err  error
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Err }

// NewError returns an Error with the text of Describe, followed by hint if there is one.
func NewError(host string, err error, hint string) *Error {
	text := Describe(host, err)
	if hint != "" {
		text = fmt.Sprintf("%s; %s", text, hint)
	}
	return &Error{text, err}
}
