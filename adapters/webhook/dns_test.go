package webhook

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// dnsServer answers A and AAAA questions over UDP on loopback from a table that a test may change between
// questions. Names it does not have are unknown.
type dnsServer struct {
	address string
	mu      sync.Mutex
	hosts   map[string][]netip.Addr
}

func startDNS(t testing.TB) *dnsServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &dnsServer{address: conn.LocalAddr().String(), hosts: map[string][]netip.Addr{}}
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

// set makes host resolve to these addresses from now on.
func (s *dnsServer) set(host string, addresses ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var addrs []netip.Addr
	for _, a := range addresses {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	s.hosts[host+"."] = addrs
}

func (s *dnsServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", s.address)
	}}
}

func (s *dnsServer) reply(question []byte) []byte {
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
