package gcp

import (
	"context"
	"errors"
	"net"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/internal/testenv"
)

// TestForward: a database answers through the loopback address. After stop nothing is forwarded, and open connections have
// ended.
func TestForward(t *testing.T) {
	database := testenv.Postgres(t)
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	host := u.Host
	address, stop, err := Forward(t.Context(), func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", host)
	})
	if err != nil {
		t.Fatal(err)
	}
	u.Host = address
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM generate_series(1, 100000)").Scan(&n); err != nil || n != 100_000 {
		t.Errorf("%d %v", n, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := conn.QueryRow(t.Context(), "SELECT 1").Scan(&n); err == nil {
		t.Error("the connection lives on")
	}
	if _, err := pgx.Connect(t.Context(), u.String()); err == nil {
		t.Error("it is still listened to")
	}
}

// TestForwardWithoutDatabase: if the database is unreachable, the connection ends at once.
func TestForwardWithoutDatabase(t *testing.T) {
	address, stop, err := Forward(t.Context(), func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("away") })
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("%d %v", n, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
