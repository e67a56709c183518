package counttest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
)

// Database is a proxy before a PostgreSQL server that counts what its clients ask for. What the server does by itself, such as
// vacuuming, is not counted.
type Database struct {
	URL          string // of the proxy, in place of the server's
	Connections  atomic.Int64
	Transactions atomic.Int64 // that ended, those of letting a client in left out

	server string
	before float64 // what the server itself had counted at Begin
}

// Begin counts from zero.
func (d *Database) Begin(t testing.TB) {
	t.Helper()
	d.before = d.all(t)
	d.Connections.Store(0)
	d.Transactions.Store(0)
}

// Count adds what was counted since Begin: transactions and new connections of the clients, and those transactions that the
// server's statistics have beside them, which are its own, such as those of vacuuming.
func (d *Database) Count(t testing.TB, counts Counts) {
	t.Helper()
	own, connections := float64(d.Transactions.Load()), float64(d.Connections.Load())
	counts["transactions"], counts["connections"] = own, connections
	counts["server.transactions"] = d.all(t) - d.before - own - connections // letting a client in is one
}

func (d *Database) all(t testing.TB) float64 {
	t.Helper()
	n, err := transactions(t.Context(), d.server)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// NewDatabase starts a proxy before the server at address, which is a URL without TLS, until the test ends.
func NewDatabase(t testing.TB, address string) *Database {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	server := u.Host
	u.Host = listener.Addr().String()
	d := &Database{URL: u.String(), server: address}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go d.serve(context.WithoutCancel(t.Context()), client, server)
		}
	}()
	return d
}

// serve passes on what one client and the server say. A server is ready for a query once its client is let in, and then after each
// transaction.
func (d *Database) serve(ctx context.Context, client net.Conn, address string) {
	defer client.Close()
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client)
		_ = server.Close()
	}()
	_, _ = io.Copy(io.MultiWriter(&messages{of: d}, client), server) // counted before the client hears of it
}

// messages reads what a server says to one client.
type messages struct {
	of    *Database
	said  []byte // of a message that is not complete
	letIn bool
}

func (m *messages) Write(p []byte) (int, error) {
	m.said = append(m.said, p...)
	for len(m.said) >= 5 {
		size := 1 + int(binary.BigEndian.Uint32(m.said[1:])) // a byte that names it, and its length with what follows
		if len(m.said) < size {
			break
		}
		switch ready := m.said[0] == 'Z' && m.said[5] == 'I'; { // ready for a query, in no transaction
		case ready && m.letIn:
			m.of.Transactions.Add(1)
		case ready:
			m.letIn = true
			m.of.Connections.Add(1)
		}
		m.said = m.said[size:]
	}
	return len(p), nil
}
