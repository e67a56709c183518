package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/internal/containers/engine"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// The stack of containers runs a job end to end, and is gone when the program was told to stop.
func TestContainersRunAJob(t *testing.T) {
	testenv.Image(t, "containers", engine.Postgres)
	testenv.Image(t, "localstack", engine.LocalStack)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	said, out := io.Pipe()
	var errs bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, []string{"-stack", "containers", "-addr", "127.0.0.1:0", "-tick", "200ms"}, out, &errs)
		_ = out.CloseWithError(errors.Join(err, io.EOF))
		ended <- err
	}()
	greeting := readGreeting(t, said)
	address := regexp.MustCompile(`http://\S+/v1\b`).FindString(greeting)
	servers := regexp.MustCompile(`(postgres|http)://[^\s,)]+`).FindAllString(strings.SplitN(greeting, "\n", 2)[0], -1)
	if address == "" || len(servers) != 2 {
		stop()
		t.Fatalf("%v\n%s\n%s", <-ended, greeting, errs.Bytes())
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()

	for _, priority := range []string{"critical", "default", "bulk"} {
		if status := runJob(t, address, `{"type":"echo","payload":1,"delay":"1s","priority":"`+priority+`"}`); status != "done" {
			t.Errorf("the %s job is %s", priority, status)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("%v\n%s", err, errs.Bytes())
	}
	for _, server := range servers {
		at, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		if conn, err := net.DialTimeout("tcp", at.Host, time.Second); err == nil {
			conn.Close()
			t.Errorf("%s still answers", server)
		}
	}
	t.Logf("progress:\n%s", errs.Bytes())
}

// readGreeting reads up to the line that says how to stop, or as far as the program came.
func readGreeting(t *testing.T, said io.Reader) string {
	t.Helper()
	var greeting strings.Builder
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		greeting.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "Ctrl-C") {
			break
		}
	}
	return greeting.String()
}

// runJob submits a job and waits for its end.
func runJob(t *testing.T, address, job string) (status string) {
	t.Helper()
	var answer struct{ ID, Status string }
	call := func(method, path, body string) {
		r, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
			t.Fatal(res.Status, err)
		}
	}
	call(http.MethodPost, "/jobs", job)
	for deadline := time.Now().Add(time.Minute); answer.Status != "done" && time.Now().Before(deadline); {
		call(http.MethodGet, "/jobs/"+answer.ID+"?wait=10s", "")
	}
	return answer.Status
}

// Where no engine answers the program says so before it builds anything, and names the way that needs none.
func TestContainersWithoutAnEngine(t *testing.T) {
	t.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
	t.Setenv("DOCKER_CONTEXT", "")
	err := run(t.Context(), []string{"-stack", "containers"}, io.Discard, io.Discard)
	if !errors.Is(err, engine.ErrNone) || !strings.Contains(err.Error(), "install Docker") || !strings.Contains(err.Error(), "-stack embedded") {
		t.Error(err)
	}
}

// Without the source, or without Go, the program says what it needs.
func TestContainersWithoutTheSource(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := buildProgram(t.Context(), filepath.Join(t.TempDir(), "p")); !errors.Is(err, errNoSource) {
		t.Error(err)
	}
	t.Setenv("PATH", "")
	if err := buildProgram(t.Context(), filepath.Join(t.TempDir(), "p")); !errors.Is(err, errNoSource) {
		t.Error(err)
	}
}

// Flags reach the program of the containers; those that it cannot follow are refused, not dropped.
func TestFlagsOfTheContainers(t *testing.T) {
	o, err := parse([]string{"-stack", "containers", "-workers", "7", "-addr=:0"}, io.Discard)
	if err != nil || strings.Join(o.passed, " ") != "-addr=:0 -workers=7" {
		t.Errorf("%v, %v", o.passed, err)
	}
	for _, args := range [][]string{{"-data", "x.db"}, {"-database-url", "postgres://h/d"}, {"-role", "api"}, {"-stack", "cloud"}} {
		if _, err := parse(append([]string{"-stack", "containers"}, args...), io.Discard); err == nil || !strings.Contains(err.Error(), args[0]) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// The first build of the embedded default is short: neither a client of a container engine nor one of a cloud is in it.
func TestEmbeddedLinksNoContainers(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, heavy := range []string{"github.com/testcontainers/", "github.com/moby/", "github.com/docker/", "github.com/aws/", "cloud.google.com/"} {
		if strings.Contains("\n"+string(out), "\n"+heavy) {
			t.Errorf("it links %s", heavy)
		}
	}
}
