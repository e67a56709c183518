package composetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/internal/testenv"
)

const (
	root    = "../.."
	token   = "belfry-token-of-this-machine" // the one of compose.yaml
	longest = 5 * time.Minute                // that a loaded machine may take for one thing
)

// ours are the services that run the image of this repository.
var ours = []string{"api", "tick-1", "tick-2", "worker-1", "worker-2"}

// project is compose.yaml under a name of its own.
type project struct {
	compose []string
	name    string
	image   string
	url     string
	env     []string
}

// newProject builds the image and picks a name and a port. Everything that it brings up is gone when the test ends.
func newProject(t *testing.T) *project {
	t.Helper()
	p := &project{compose: testenv.Compose(t, "postgres:17-alpine", "rabbitmq:4-alpine"), name: "belfry-test-" + strings.ToLower(rand.Text()[:10])}
	p.image = p.name + ":local"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	listener.Close()
	p.url = "http://127.0.0.1:" + port
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "BELFRY_") {
			p.env = append(p.env, kv)
		}
	}
	p.env = append(p.env, "BELFRY_PORT="+port, "BELFRY_IMAGE="+p.image)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(p.try("logs", "--no-color", "--tail", "40"))
		}
		if said, err := p.try("down", "--volumes", "--timeout", "10"); err != nil {
			t.Errorf("down: %v: %s", err, said)
		}
		if said, err := exec.Command("docker", "image", "rm", p.image).CombinedOutput(); err != nil {
			t.Errorf("remove the image: %v: %s", err, said)
		}
	})
	p.build(t)
	return p
}

// build makes the image: by the whole Dockerfile, which takes an image with Go, where BELFRY_TEST_LARGE asks for it.
func (p *project) build(t *testing.T) {
	t.Helper()
	if os.Getenv("BELFRY_TEST_LARGE") != "" {
		p.run(t, "build", "api")
		return
	}
	build := exec.CommandContext(t.Context(), "go", "run", "./internal/serverimage", "-tag", p.image, "-arch", runtime.GOARCH, "-out", filepath.Join(t.TempDir(), "dist"))
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	} else if !strings.Contains(string(said), "an image") {
		t.Fatalf("no image was built: %s", said)
	} else {
		t.Logf("%s", said)
	}
}

// try runs a command of Compose on the project.
func (p *project) try(args ...string) (string, error) {
	command := append(append(p.compose[1:len(p.compose):len(p.compose)], "--project-name", p.name), args...)
	cmd := exec.Command(p.compose[0], command...)
	cmd.Dir, cmd.Env = root, p.env
	said, err := cmd.CombinedOutput()
	return string(said), err
}

func (p *project) run(t *testing.T, args ...string) string {
	t.Helper()
	said, err := p.try(args...)
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, said)
	}
	return said
}

// up starts everything and waits until the API can serve.
func (p *project) up(t *testing.T) {
	t.Helper()
	p.run(t, "up", "--detach", "--no-build")
	eventually(t, "the API is ready", func() bool {
		_, err := p.call(t.Context(), "GET", "/readyz", "", nil)
		return err == nil
	})
}

// container is the id of a service's container.
func (p *project) container(t *testing.T, service string) string {
	t.Helper()
	return docker(t, "ps", "--all", "--quiet", "--no-trunc", "--filter", "label=com.docker.compose.project="+p.name, "--filter", "label=com.docker.compose.service="+service)
}

// inspect returns what the engine says of a service's container by a template.
func (p *project) inspect(t *testing.T, service, template string) string {
	t.Helper()
	return docker(t, "inspect", "--format", template, p.container(t, service))
}

// query asks the database for one text.
func (p *project) query(t *testing.T, statement string) string {
	t.Helper()
	return docker(t, "exec", "--env", "PGPASSWORD=belfry", p.container(t, "postgres"), "psql", "-U", "belfry", "-d", "belfry", "-At", "-c", statement)
}

func docker(t *testing.T, args ...string) string {
	t.Helper()
	var errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "docker", args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("docker %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

// job is what the API says of one.
type job struct {
	ID         string
	Status     string
	Attempts   int
	WorkerID   string    `json:"worker_id"`
	CreatedAt  time.Time `json:"created_at"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
}

// call makes one request and decodes a good answer into a value, if there is one.
func (p *project) call(ctx context.Context, method, path, body string, into any) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.url+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	return res.StatusCode, err
}

// submit submits a job.
func (p *project) submit(t *testing.T, body string) (made job) {
	t.Helper()
	if _, err := p.call(t.Context(), "POST", "/v1/jobs", body, &made); err != nil {
		t.Fatal(err)
	}
	return made
}

// get reads a job.
func (p *project) get(t *testing.T, id string) (read job) {
	t.Helper()
	if _, err := p.call(t.Context(), "GET", "/v1/jobs/"+id, "", &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// done waits until a job has ended, and it must be done.
func (p *project) done(ctx context.Context, id string) (read job, err error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	for err == nil && read.FinishedAt.IsZero() {
		_, err = p.call(ctx, "GET", "/v1/jobs/"+id+"?wait=30s", "", &read)
	}
	if err == nil && read.Status != "done" {
		err = errors.New("job " + id + " is " + read.Status)
	}
	return read, err
}

// eventually asks until it is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	late := time.After(longest)
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("never: %s", what)
		}
	}
}
