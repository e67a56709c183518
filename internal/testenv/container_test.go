package testenv

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestContainedPostgresEndsWhenClosed(t *testing.T) {
	server, err := startContained("postgres")
	if err != nil { // no engine, or an engine without the image and without a registry
		missing(t, "containers", err, "install and start Docker")
	}
	conn, err := pgx.Connect(t.Context(), server.url)
	if err != nil {
		t.Error(err)
	} else if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := server.close(); err != nil {
		t.Fatal(err)
	}
	if conn, err := pgx.Connect(t.Context(), server.url); err == nil {
		t.Error("the server answers after close", conn.Close(t.Context()))
	}
}
