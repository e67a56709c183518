package apifuzz

import (
	"bytes"
	"context"
	"embed"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/nodetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// The long form has more time and another seed each time.
var (
	length = flag.Duration("for", 25*time.Second, "how long requests are made, per store")
	seed   = flag.Int("seed", 1, "seed of what is made up; 0 means another one each time")
)

// leastPerSecond is far below what a run does; one that does less has not fuzzed anything.
const leastPerSecond = 2

const token = "a-token-that-only-this-fuzz-run-knows"

//go:embed schemathesis.toml hooks.py
var settings embed.FS

func TestSQLite(t *testing.T) {
	program := testenv.Schemathesis(t, ".")
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fuzz(t, program, store)
}

func TestPostgres(t *testing.T) {
	program := testenv.Schemathesis(t, ".")
	dsn := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), dsn, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fuzz(t, program, store)
}

// fuzz serves the store and runs all checks against it.
func fuzz(t *testing.T, program string, store core.Store) {
	t.Helper()
	t.Setenv("BELFRY_TOKENS", token)
	address := nodetest.StartOn(t, "all", store)
	plant(t, address)
	report := schemathesis(t, program, address)
	done := regexp.MustCompile(`(?m)^\s*(\d+) generated`).FindSubmatch(report)
	if done == nil {
		t.Fatalf("the report does not say what was done:\n%s", report)
	}
	made, _ := strconv.Atoi(string(done[1]))
	if least := int(length.Seconds()) * leastPerSecond; made < least {
		t.Errorf("%d requests were made, want at least %d:\n%s", made, least, report)
	}
	t.Logf("%d requests", made)
}

// schemathesis runs it to its end and returns its report. Any finding fails the test.
func schemathesis(t *testing.T, program, address string) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, settings); err != nil {
		t.Fatal(err)
	}
	args := []string{
		"run", address + "/openapi.json", "--max-time", strconv.Itoa(int(length.Seconds())), "--no-color",
		"--header", "Authorization: Bearer " + token,
	}
	if *seed != 0 {
		args = append(args, "--seed", strconv.Itoa(*seed))
	}
	ctx, cancel := context.WithTimeout(t.Context(), *length+5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PYTHONUTF8=1", "COLUMNS=120")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var report bytes.Buffer
	cmd.Stdout, cmd.Stderr = &report, &report
	err := cmd.Run()
	text := longLine.ReplaceAll(report.Bytes(), []byte("$1 … (cut)"))
	if err != nil {
		t.Errorf("%v:\n%s", err, text)
	}
	return text
}

// longLine is a line of the report with a body that nobody reads to its end.
var longLine = regexp.MustCompile(`(?m)^(.{900}).+$`)
