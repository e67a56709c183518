package rietest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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

var programs = struct {
	sync.Mutex
	paths map[string]string
}{paths: map[string]string{}}

// program builds a function as it is packed, once.
func program(t *testing.T, name string) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	if path := programs.paths[name]; path != "" {
		return path
	}
	dir, err := os.MkdirTemp("", "belfry-rie-") //nolint:usetesting // later tests run it too
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "bootstrap")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", path, "./functions/"+name+"/lambda")
	build.Dir, build.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	programs.paths[name] = path
	return path
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, path := range programs.paths {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// function is one environment of a function.
type function struct {
	address string
	cmd     *exec.Cmd
	log     *testenv.Log
	ended   chan struct{}
}

// start runs a function under the emulator until the test ends. The timeout is the function's, in seconds.
func start(t *testing.T, name string, timeout int, env ...string) *function {
	t.Helper()
	emulator, path := testenv.RIE(t), program(t, name)
	ports := [2]string{freePort(t), freePort(t)}
	f := &function{address: "127.0.0.1:" + ports[0], log: &testenv.Log{}, ended: make(chan struct{})}
	f.cmd = exec.Command(emulator, "--runtime-interface-emulator-address", f.address, "--runtime-api-address", "127.0.0.1:"+ports[1], path)
	f.cmd.Env = append(os.Environ(), "AWS_LAMBDA_FUNCTION_NAME=belfry-"+name, fmt.Sprint("AWS_LAMBDA_FUNCTION_TIMEOUT=", timeout),
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=eu-west-1", "BELFRY_LOG_LEVEL=warn")
	f.cmd.Env = append(f.cmd.Env, env...)
	f.cmd.Stdout, f.cmd.Stderr = f.log, f.log
	f.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(f.ended); _ = f.cmd.Wait() }()
	t.Cleanup(func() {
		f.kill()
		for line := range strings.Lines(f.log.String()) {
			if strings.Contains(line, "Init Duration") || strings.Contains(line, "INIT REPORT") {
				t.Logf("%s: %s", name, strings.TrimSpace(line))
			}
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", name, f.log)
		}
	})
	deadline := time.Now().Add(patience)
	for {
		conn, err := net.DialTimeout("tcp", f.address, time.Second)
		if err == nil {
			_ = conn.Close()
			return f
		}
		select {
		case <-f.ended:
			t.Fatalf("the emulator ended: %s", f.log)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("the emulator does not listen")
		}
	}
}

// kill ends the environment as a power cut would: the function, which the emulator starts in a process group of its
// own, before the emulator.
func (f *function) kill() {
	pid := f.cmd.Process.Pid
	var children []byte
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range threads {
		more, _ := os.ReadFile(name)
		children = append(children, more...)
	}
	for child := range strings.FieldsSeq(string(children)) {
		if n, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(-n, syscall.SIGKILL)
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	<-f.ended
}

// invoke sends an event and returns the answer.
func (f *function) invoke(t *testing.T, event any) []byte {
	t.Helper()
	answer, err := f.tryInvoke(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (f *function) tryInvoke(ctx context.Context, event any) ([]byte, error) {
	body, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+f.address+"/2015-03-31/functions/function/invocations", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// document reads a checked-in event.
func document(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// database makes a database with Belfry's schema, and opens it beside the functions.
func database(t *testing.T) (address string, store *postgres.Store) {
	t.Helper()
	address = testenv.Postgres(t)
	if err := postgres.Migrate(t.Context(), address); err != nil {
		t.Fatal(err)
	}
	store, err := postgres.Open(t.Context(), address, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return address, store
}
