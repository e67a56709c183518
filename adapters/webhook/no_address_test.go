package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/dnstest"
)

// anAddress matches IPv4 addresses, and the part of IPv6 addresses that other texts do not have: two colons, or three
// groups.
var anAddress = regexp.MustCompile(`\d{1,3}(\.\d{1,3}){3}|[0-9a-f]*::[0-9a-f]*|([0-9a-f]{1,4}:){3}`)

// Errors about a refused or unreachable host name the host as the caller wrote it. They contain no address, server or name
// of the network; only the operator's log does.
func TestCallersAreToldNoAddress(t *testing.T) {
	dns := dnstest.Start(t)
	told := map[string][]netip.Addr{}
	w, _ := newDialess(t, GuardOptions{Resolver: dns.Resolver(), OnRefused: func(host string, a netip.Addr) { told[host] = append(told[host], a) }})
	inside := []string{"10.9.9.9", "127.0.0.1", "169.254.169.254", "192.168.7.8", "::1", "fd00::7", "fe80::1", "64:ff9b::a09:909"}
	for i, address := range inside {
		name := fmt.Sprintf("h%d.example.com", i)
		dns.Set(name, "93.184.216.34", address)
		doc := targetOf("http://" + name + "/")
		_, atDelivery := w.Work(t.Context(), &core.Job{ID: 1, Target: doc})
		texts := map[string]error{
			"create": w.guard.CheckTargets(t.Context(), []json.RawMessage{doc})[0], "look-up": w.guard.CheckResolved(t.Context(), "http://"+name+"/"), "delivery": atDelivery,
			"literal": w.guard.CheckURL((&url.URL{Scheme: "http", Host: bracketed(address)}).String()),
		}
		for when, err := range texts {
			if err == nil {
				t.Errorf("%s of %s: not refused", when, address)
			} else if found := anAddress.FindString(err.Error()); found != "" {
				t.Errorf("%s of %s tells %q: %s", when, address, found, err)
			}
		}
		if want := netip.MustParseAddr(address).Unmap(); !slices.Equal(told[name], []netip.Addr{want}) {
			t.Errorf("the operator got %v, want %s once", told[name], want)
		}
	}
}

func bracketed(address string) string {
	if strings.Contains(address, ":") {
		return "[" + address + "]"
	}
	return address
}

// These are all network errors with a text of their own, and one without, with internal addresses in them.
func TestFaultsOfTheNetworkTellNoAddress(t *testing.T) {
	const address, name = "10.9.9.9", "db.corp.internal"
	over := func(err error) error {
		return &dialError{&net.OpError{Op: "dial", Net: "tcp", Source: &net.TCPAddr{IP: net.ParseIP("10.1.1.1"), Port: 4}, Addr: &net.TCPAddr{IP: net.ParseIP(address), Port: 443}, Err: err}}
	}
	certificate := &x509.Certificate{DNSNames: []string{name}, IPAddresses: []net.IP{net.ParseIP(address)}}
	verify := func(err error) error { return &tls.CertificateVerificationError{Err: err} }
	faults := []error{
		over(os.NewSyscallError("connect", syscall.ECONNREFUSED)), over(syscall.EHOSTUNREACH), over(syscall.ENETUNREACH), over(syscall.ECONNRESET), over(syscall.EPIPE),
		over(syscall.ETIMEDOUT), over(os.ErrDeadlineExceeded), over(&net.AddrError{Err: "mismatched local address type", Addr: address}), over(errors.New(address)),
		&net.DNSError{Err: "no such host", Name: name, Server: address + ":53", IsNotFound: true}, &net.DNSError{Err: "server misbehaving", Name: name, Server: address + ":53"},
		verify(x509.HostnameError{Certificate: certificate, Host: "h.example"}), verify(x509.UnknownAuthorityError{Cert: certificate}),
		verify(x509.CertificateInvalidError{Cert: certificate, Reason: x509.Expired, Detail: address}), verify(x509.CertificateInvalidError{Cert: certificate, Reason: x509.NameMismatch, Detail: address}),
		verify(errors.New(address)), tls.AlertError(40), tls.RecordHeaderError{Msg: address}, io.EOF, io.ErrUnexpectedEOF, &slowError{"waiting for the answer"},
		&http.MaxBytesError{}, errors.New(name + " " + address), over(refuse("the address is not public")),
	}
	for _, fault := range faults {
		for _, err := range []error{fault, fmt.Errorf("%s: %w", address, fault)} {
			text := describe("h.example:443", err).Error()
			if anAddress.MatchString(text) || strings.Contains(text, name) {
				t.Errorf("%T: %s", fault, text)
			}
		}
	}
}
