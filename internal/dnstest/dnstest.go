// Package dnstest is a DNS server for tests that must see names resolve as they like.
package dnstest

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Server answers A and AAAA questions over UDP on loopback from a table that a test may change between
// questions. Names it does not have are unknown.
type Server struct {
	address string
	mu      sync.Mutex
	hosts   map[string][]netip.Addr
}

// Start runs a server until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{address: conn.LocalAddr().String(), hosts: map[string][]netip.Addr{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply := s.reply(buf[:n]); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	t.Cleanup(func() {
		conn.Close()
		<-done
	})
	return s
}

// Set makes host resolve to these addresses from now on.
func (s *Server) Set(host string, addresses ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var addrs []netip.Addr
	for _, a := range addresses {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	s.hosts[host+"."] = addrs
}

// Resolver asks this server alone.
func (s *Server) Resolver() *net.Resolver { return At(s.address) }

// At asks the server at an address alone.
func At(address string) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", address)
	}}
}

func (s *Server) reply(question []byte) []byte {
	var msg dnsmessage.Message
	if msg.Unpack(question) != nil || len(msg.Questions) != 1 {
		return nil
	}
	q := msg.Questions[0]
	s.mu.Lock()
	addrs, known := s.hosts[strings.ToLower(q.Name.String())]
	s.mu.Unlock()
	msg.Response, msg.RecursionAvailable, msg.Additionals = true, true, nil
	if !known {
		msg.RCode = dnsmessage.RCodeNameError
	}
	for _, addr := range addrs {
		header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: dnsmessage.ClassINET, TTL: 0}
		switch {
		case q.Type == dnsmessage.TypeA && addr.Is4():
			msg.Answers = append(msg.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: addr.As4()}})
		case q.Type == dnsmessage.TypeAAAA && addr.Is6():
			msg.Answers = append(msg.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}})
		}
	}
	out, err := msg.Pack()
	if err != nil {
		return nil
	}
	return out
}
