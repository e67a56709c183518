package pgserver

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestServerIsDurableAndStopsForGood(t *testing.T) {
	s, err := Start(t.Context())
	if errors.Is(err, ErrNotFound) && !strings.Contains(os.Getenv("BELFRY_TEST_REQUIRE"), "postgres") {
		t.Skip("skipped: needs PostgreSQL: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	conn, err := pgx.Connect(t.Context(), s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fsync", "synchronous_commit", "full_page_writes"} {
		var value string
		if err := conn.QueryRow(t.Context(), `SELECT current_setting($1)`, name).Scan(&value); err != nil || value != "on" {
			t.Errorf("%s = %q, %v, want on", name, value, err)
		}
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
	if _, err := pgx.Connect(t.Context(), s.DSN); err == nil {
		t.Error("the server still answers")
	}
}

func TestDroppedDatabaseIsFreshAgain(t *testing.T) {
	s, err := Start(t.Context())
	if errors.Is(err, ErrNotFound) && !strings.Contains(os.Getenv("BELFRY_TEST_REQUIRE"), "postgres") {
		t.Skip("skipped: needs PostgreSQL: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	for range 2 { // the second finds what the first left
		dsn, _, err := FreshDatabase(t.Context(), s.DSN, "fresh")
		if err != nil {
			t.Fatal(err)
		}
		if err := execute(t.Context(), dsn, `CREATE TABLE left_over (id int)`); err != nil {
			t.Fatal(err)
		}
	}
}
