package memorytest

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
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/internal/testenv"
)

const adminToken = "admin-token-of-the-memory-test-0123456789"

// server is a server in a process of its own.
type server struct {
	t       *testing.T
	address string // of the API
	cmd     *exec.Cmd
	token   string // of one tenant: may read and submit
}

// program is the server's, built once.
var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("BELFRY_TEST_SERVER"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "belfry-memory")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "server")
	out, err := exec.Command("go", "build", "-o", path, "github.com/belfry-dev/belfry/cmd/server").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// start starts a server on a database of its own.
func start(t *testing.T) *server {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, address: freePort(t)}
	s.cmd = exec.Command(path)
	s.cmd.Env = append(os.Environ(), "BELFRY_DATABASE_URL="+testenv.Postgres(t), "BELFRY_ADDR="+s.address, "BELFRY_HEALTH_ADDR="+freePort(t), "BELFRY_TOKENS="+adminToken, "BELFRY_LOG_LEVEL=error")
	var log bytes.Buffer
	s.cmd.Stdout, s.cmd.Stderr = &log, &log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		if text := log.String(); t.Failed() && text != "" {
			t.Log(text[max(0, len(text)-2000):])
		}
	})
	beat := time.NewTicker(20 * time.Millisecond)
	defer beat.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-beat.C {
		if res, err := http.Get("http://" + s.address + "/readyz"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				break
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not start: %s", log.String())
		}
	}
	var made struct{ Token string }
	s.call(adminToken, "POST", "/v1/tokens", `{"name":"attacker","role":"submit","tenant":"acme"}`, &made)
	s.token = made.Token
	return s
}

// call makes one request, which must succeed.
func (s *server) call(token, method, path, body string, into any) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.address+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %d, %v: %.300s", method, path, res.StatusCode, err, text)
	}
	if into != nil {
		if err := json.Unmarshal(text, into); err != nil {
			s.t.Fatal(err)
		}
	}
}

// peak is the most memory that was resident, in MiB.
func (s *server) peak() int {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return kib / 1024
}

// probe asks for /healthz, each time on a connection of its own, until ctx ends, and passes on how long each took.
func (s *server) probe(ctx context.Context) <-chan []time.Duration {
	took := make(chan []time.Duration, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
		var all []time.Duration
		beat := time.NewTicker(20 * time.Millisecond)
		defer beat.Stop()
		for ; ctx.Err() == nil; <-beat.C {
			start := time.Now()
			res, err := client.Get("http://" + s.address + "/healthz")
			if err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
			all = append(all, time.Since(start))
		}
		slices.Sort(all)
		took <- all
	}()
	return took
}
