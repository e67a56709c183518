package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/nodetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// large is how many lines TestLargeFile submits: 100,000 where BELFRY_TEST_LARGE is 1.
func large() (lines, batch int) {
	if os.Getenv("BELFRY_TEST_LARGE") == "1" {
		return 100_000, 1000
	}
	return 2_000, 20
}

// A process that is interrupted halfway, by a real signal, and run again leaves exactly one job for each line, though
// jobs of the first half have been done meanwhile.
func TestLargeFile(t *testing.T) {
	lines, batch := large()
	name := filepath.Join(t.TempDir(), "jobs.jsonl")
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, `{"type":"echo","payload":{"line":%d}}`+"\n", i+1)
	}
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	server := nodetest.StartOn(t, "all", store)
	c := program(t, []string{"BELFRY_URL=" + server, "NO_COLOR=1"}, "jobs", "submit", "--file", name, "--batch", strconv.Itoa(batch))
	half, took := interruptHalfway(t, c, store, lines/2)
	t.Logf("interrupted after %s behind line %d", took.Round(time.Millisecond), half)

	again := program(t, nil)
	again.Args, again.Env = c.Args, c.Env
	start := time.Now()
	out, errs, code := outcome(t, again)
	want := fmt.Sprintf("%d lines: %d submitted, 0 there already, 0 refused\n", lines-half, lines-half)
	if code != console.ExitOK || out != want || !strings.Contains(errs, fmt.Sprintf("goes on behind line %d,", half)) {
		t.Fatalf("run again: %d\n%s%s\nwant %s", code, out, errs, want)
	}
	t.Logf("the other %d lines took %s", lines-half, time.Since(start).Round(time.Millisecond))
	everyLineOnce(t, server, lines)
}

// interruptHalfway starts c, sends it SIGINT once half of the jobs are there, and returns behind which line it stopped.
func interruptHalfway(t *testing.T, c *exec.Cmd, store core.Store, half int) (line int, took time.Duration) {
	t.Helper()
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout = io.Discard
	start := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for {
		if _, err := store.Get(t.Context(), int64(half)); err == nil {
			break
		}
		select {
		case <-poll.C:
		case <-t.Context().Done():
			t.Fatal("half of the jobs never came")
		}
	}
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
	}
	if err := c.Wait(); c.ProcessState.ExitCode() != console.ExitInterrupted {
		t.Fatalf("%v\n%s", err, said.String())
	}
	stopped := regexp.MustCompile(`stopped behind line (\d+)`).FindStringSubmatch(said.String())
	if stopped == nil {
		t.Fatalf("it says %s", said.String())
	}
	if line, err = strconv.Atoi(stopped[1]); err != nil || line < half {
		t.Fatalf("stopped behind line %s, %v", stopped[1], err)
	}
	return line, time.Since(start)
}

// everyLineOnce holds the jobs of the server against the lines of the file.
func everyLineOnce(t *testing.T, server string, lines int) {
	t.Helper()
	api, err := client.New(server, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for job, err := range api.List(t.Context(), client.Filter{PageSize: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		seen[string(job.Payload)]++
	}
	for i := range lines {
		if n := seen[fmt.Sprintf(`{"line":%d}`, i+1)]; n != 1 {
			t.Fatalf("line %d is %d jobs", i+1, n)
		}
	}
	if len(seen) != lines {
		t.Errorf("%d payloads, want %d", len(seen), lines)
	}
}
