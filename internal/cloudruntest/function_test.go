package cloudruntest

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// patience bounds what a loaded machine may take.
const patience = 2 * time.Minute

var built = struct {
	sync.Mutex
	programs, images map[string]string
}{programs: map[string]string{}, images: map[string]string{}}

// program builds a function, once.
func program(t *testing.T, name string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if path := built.programs[name]; path != "" {
		return path
	}
	dir, err := os.MkdirTemp("", "belfry-cloudrun-") //nolint:usetesting // later tests run it too
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "function")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", path, "./functions/"+name+"/cloudrun")
	build.Dir, build.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	built.programs[name] = path
	return path
}

//go:embed Dockerfile
var dockerfile []byte

// image makes an image of a function, once.
func image(t *testing.T, name string) string {
	t.Helper()
	engine, path := testenv.Engine(t), program(t, name)
	built.Lock()
	defer built.Unlock()
	if made := built.images[name]; made != "" {
		return made
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "Dockerfile"), dockerfile, 0o600); err != nil {
		t.Fatal(err)
	}
	tag := "belfry-cloudruntest-" + name + ":" + strings.ToLower(rand.Text())
	if out, err := exec.CommandContext(t.Context(), engine, "build", "-q", "-t", tag, filepath.Dir(path)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	built.images[name] = tag
	return tag
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, path := range built.programs {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	for _, tag := range built.images {
		_ = exec.Command("docker", "image", "rm", "-f", tag).Run()
	}
	os.Exit(code)
}

// function is one running container, or a process in its place.
type function struct {
	address   string // http://host:port
	cmd       *exec.Cmd
	container string // its name; "" for a process
	log       *testenv.Log
	ended     chan struct{}
	code      error
}

// start runs a function as a process until the test ends.
func start(t *testing.T, name string, env ...string) *function {
	t.Helper()
	f := newFunction(t)
	f.cmd = exec.Command(program(t, name))
	f.cmd.Env = f.environment(env)
	f.run(t, name)
	return f
}

// contain runs a function as a container, on the network of this machine, until the test ends.
func contain(t *testing.T, name string, env ...string) *function {
	t.Helper()
	engine, tag := testenv.Engine(t), image(t, name)
	f := newFunction(t)
	f.container = "belfry-cloudruntest-" + strings.ToLower(rand.Text())
	args := []string{"run", "--rm", "--network", "host", "--read-only", "--name", f.container}
	for _, setting := range f.environment(env) {
		args = append(args, "-e", setting)
	}
	f.cmd = exec.Command(engine, append(args, tag)...)
	f.run(t, name)
	return f
}

// kinds are the ways to run a function.
var kinds = map[string]func(*testing.T, string, ...string) *function{"process": start, "container": contain}

func newFunction(t *testing.T) *function {
	t.Helper()
	return &function{address: "http://127.0.0.1:" + freePort(t), log: &testenv.Log{}, ended: make(chan struct{})}
}

func (f *function) environment(more []string) []string {
	return append([]string{"PORT=" + f.address[strings.LastIndexByte(f.address, ':')+1:], "K_REVISION=belfry-00001-abc"}, more...)
}

func (f *function) run(t *testing.T, name string) {
	t.Helper()
	f.cmd.Stdout, f.cmd.Stderr = f.log, f.log
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(f.ended); f.code = f.cmd.Wait() }()
	t.Cleanup(func() {
		f.kill()
		if t.Failed() {
			t.Logf("%s said:\n%s", name, f.log)
		}
	})
	await(t, name+" serves", func() bool {
		select {
		case <-f.ended:
			t.Fatalf("%s ended: %v: %s", name, f.code, f.log)
		default:
		}
		res, err := http.Get(f.address + "/health")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// terminate tells the function to end as Cloud Run does, and does not wait.
func (f *function) terminate(t *testing.T) {
	t.Helper()
	if f.container != "" {
		if out, err := exec.Command("docker", "kill", "-s", "TERM", f.container).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	if err := f.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

// kill ends it as a power cut would.
func (f *function) kill() {
	if f.container != "" {
		_ = exec.Command("docker", "kill", "-s", "KILL", f.container).Run()
	}
	_ = f.cmd.Process.Kill()
	<-f.ended
	if f.container != "" {
		_ = exec.Command("docker", "rm", "-f", f.container).Run()
	}
}

// wait waits for its end and returns what it ended with.
func (f *function) wait(t *testing.T) error {
	t.Helper()
	select {
	case <-f.ended:
		return f.code
	case <-time.After(patience):
		t.Fatal("it does not end")
		return nil
	}
}

// post sends a request and returns the status of the answer.
func (f *function) post(ctx context.Context, path, token string, body []byte) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.address+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, errors.Join(err, res.Body.Close())
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// database makes a database with Belfry's schema, and opens it beside the functions.
func database(t *testing.T) (setting string, store *postgres.Store) {
	t.Helper()
	address := testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return "BELFRY_DATABASE_URL=" + address, store
}

// await polls until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}
