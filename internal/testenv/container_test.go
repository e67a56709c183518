package testenv

import (
	"net"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/internal/containers/engine"
	"github.com/belfry-dev/belfry/internal/queueserver"
)

// Where programs are left out, the server comes from a container, which goes with it.
func TestPostgresFromAContainer(t *testing.T) {
	Image(t, "containers", engine.Postgres)
	t.Setenv(fromVariable, "container")
	t.Setenv(postgresVariable, "")
	found, err := startPostgres()
	if err != nil {
		t.Fatal(err)
	}
	if found.held == nil {
		t.Fatalf("%s is not in a container", found.url)
	}
	conn, err := pgx.Connect(t.Context(), found.url)
	if err != nil {
		t.Error(err)
	} else if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := found.held.close(); err != nil {
		t.Fatal(err)
	}
	if conn, err := pgx.Connect(t.Context(), found.url); err == nil {
		t.Error("the server answers after close", conn.Close(t.Context()))
	}
}

func TestSQSFromAContainer(t *testing.T) {
	Image(t, "localstack", engine.LocalStack)
	t.Setenv(fromVariable, "container")
	t.Setenv(sqsVariable, "")
	found, err := find("sqs", sqsVariable, queueserver.StartMoto)
	if err != nil {
		t.Fatal(err)
	}
	held, contained := found.held.(*containedServer)
	if !contained {
		t.Fatalf("%s is not in a container", found.address)
	}
	res, err := http.Get(found.address + "/_localstack/health") // moto has none
	if err != nil {
		t.Error(err)
	} else if res.Body.Close(); res.StatusCode != http.StatusOK {
		t.Error(res.Status)
	}
	if err := held.close(); err != nil {
		t.Fatal(err)
	}
	if conn, err := net.Dial("tcp", found.address[len("http://"):]); err == nil {
		t.Error("the server answers after close", conn.Close())
	}
}
