package pgserver_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/internal/pgserver"
	"github.com/belfry-dev/belfry/internal/testenv"
)

func TestServerKeepsCommittedRowsThroughImmediateStops(t *testing.T) {
	server := testenv.PostgresServer(t, pgserver.Options{Durable: true})
	if got := query(t, server.URL(), "SHOW fsync"); got != "on" {
		t.Errorf("fsync of a durable server: %s", got)
	}
	query(t, server.URL(), "CREATE TABLE kept (id int)")
	query(t, server.URL(), "INSERT INTO kept VALUES (7)")
	for range 2 {
		if err := server.Stop(pgserver.Immediate); err != nil {
			t.Fatal(err)
		}
		if err := reach(t.Context(), server.URL()); err == nil {
			t.Fatal("a stopped server answers")
		}
		if err := server.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := query(t, server.URL(), "SELECT id::text FROM kept"); got != "7" {
			t.Errorf("row after a restart: %q", got)
		}
	}
	if err := server.Restart(t.Context(), pgserver.Fast); err != nil {
		t.Fatal(err)
	}
}

func TestServerTakesSettings(t *testing.T) {
	server := testenv.PostgresServer(t, pgserver.Options{Settings: map[string]string{"work_mem": "7MB"}})
	for name, want := range map[string]string{"work_mem": "7MB", "fsync": "off", "listen_addresses": "127.0.0.1", "max_connections": "200"} {
		if got := query(t, server.URL(), "SHOW "+name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
}

func TestServerSaysWhyItDoesNotStart(t *testing.T) {
	testenv.Postgres(t) // skips where there is no PostgreSQL
	server, err := pgserver.Start(t.Context(), pgserver.Options{Settings: map[string]string{"no_such_setting": "1"}})
	if err == nil {
		t.Fatal("started", server.Close())
	}
	if !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("%v does not name the setting", err)
	}
}

func TestServerLivesWhenOnlyItsAddressIsKept(t *testing.T) {
	address := testenv.Postgres(t)
	for range 5 { // a collected guard stops its server a moment later
		runtime.GC()
		if got := query(t, address, "SELECT 'here' FROM pg_sleep(0.1)"); got != "here" {
			t.Errorf("the server answers %q", got)
		}
	}
}

// killedVariable makes the test binary play a process that dies without cleaning up.
const killedVariable = "BELFRY_TEST_PLAY_KILLED"

func TestServerEndsWithAKilledProcess(t *testing.T) {
	if os.Getenv(killedVariable) != "" {
		playKilled(t)
		return
	}
	testenv.Postgres(t) // skips where there is no PostgreSQL
	cmd := exec.Command(os.Args[0], "-test.run=^TestServerEndsWithAKilledProcess$")
	temp, err := os.MkdirTemp("", "belfry-killed-") //nolint:usetesting // t.TempDir is closed to the user the server runs as
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	if err := os.Chmod(temp, 0o777); err != nil { // the server may run as another user
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), killedVariable+"=1", "TMPDIR="+temp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(address)
	if err := reach(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		t.Fatalf("the process ended by itself: %v", err)
	}
	eventually(t, "the server's folder is gone", func() bool {
		left, err := os.ReadDir(temp)
		return err == nil && len(left) == 0
	})
	if err := reach(t.Context(), address); err == nil {
		t.Error("the server outlives the process that started it")
	}
}

// playKilled starts a server, prints its address and waits to be killed.
func playKilled(t *testing.T) {
	server, err := pgserver.Start(t.Context(), pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = os.Stdout.WriteString(server.URL() + "\n")
	<-t.Context().Done()
}

func query(t *testing.T, address, sql string) (text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	err = conn.QueryRow(t.Context(), sql).Scan(&text)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Fatalf("%s: %v", sql, err)
	}
	return text
}

func reach(ctx context.Context, address string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// eventually polls until what is said holds, or fails the test.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("not within 30 s: %s", what)
		case <-poll.C:
		}
	}
}
