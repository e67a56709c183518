package scheduletest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/internal/pgserver"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// setFaked moves the clock of a server under libfaketime.
func setFaked(file string, offset int64) error {
	text := fmt.Sprintf("%+.6f\n", float64(offset)/1e6)
	next := file + ".next"
	if err := os.WriteFile(next, []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// The database alone lives around the changes of the clock, by libfaketime; the schedulers' own clock stays as it is.
func TestLedgerOfADatabaseUnderAnotherClock(t *testing.T) {
	library := testenv.FakeTime(t)
	for _, sp := range spans() {
		if sp.length > 48*time.Hour {
			continue
		}
		t.Run(sp.name, func(t *testing.T) {
			t.Parallel()
			liveFaked(t, library, sp)
		})
	}
}

func liveFaked(t *testing.T, library string, sp span) {
	dir, err := os.MkdirTemp("", "belfry-faked-") //nolint:usetesting // the server runs under an account that cannot enter t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // the server may run under an account of its own
		t.Fatal(err)
	}
	file := filepath.Join(dir, "clock")
	if err := setFaked(file, time.Until(sp.from).Microseconds()); err != nil {
		t.Fatal(err)
	}
	server := testenv.PostgresServer(t, pgserver.Options{Environment: []string{
		"LD_PRELOAD=" + library, "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1",
	}})
	address, err := pgserver.CreateDatabase(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	live(t, "faked:"+file+"|"+address, 1, sp)
}
