package localstack

import (
	"context"
	"crypto/rand"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/internal/containers/engine"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// imageVariable names an image of the functions that was built before. Without it the test builds one.
const imageVariable = "BELFRY_LOCALSTACK_IMAGE"

// project is one run of the compose file, on ports of its own.
type project struct {
	command  []string
	env      []string
	api, sqs string
}

// up starts everything until the test ends; then nothing of it is left.
func up(t *testing.T) *project {
	t.Helper()
	testenv.Image(t, "localstack", engine.LocalStack)
	compose := testenv.Compose(t, engine.Postgres)
	name := "belfry-aws-" + strings.ToLower(rand.Text()[:10])
	ports := [2]string{freePort(t), freePort(t)}
	p := &project{
		command: append(slices.Clone(compose), "-p", name, "-f", "compose.yaml"),
		env:     append(os.Environ(), "BELFRY_PORT="+ports[0], "LOCALSTACK_PORT="+ports[1], "BELFRY_TOKENS="+token, "BELFRY_QUEUE_VISIBILITY=2"),
		api:     "http://127.0.0.1:" + ports[0] + "/v1", sqs: "http://127.0.0.1:" + ports[1],
	}
	if os.Getenv(imageVariable) == "" {
		buildImage(t, name)
		p.env = append(p.env, imageVariable+"="+name)
	}
	t.Cleanup(func() {
		if t.Failed() {
			said, _ := p.run(context.Background(), "logs", "--no-color", "--tail", "40")
			t.Logf("%s", said)
		}
		if said, err := p.run(context.Background(), "down", "-v", "-t", "1"); err != nil {
			t.Errorf("down: %v: %s", err, said)
		}
	})
	begun := time.Now()
	if said, err := p.run(t.Context(), "up", "-d", "--no-build"); err != nil {
		t.Fatalf("up: %v: %s", err, said)
	}
	t.Logf("up after %.0f s", time.Since(begun).Seconds())
	return p
}

// run runs a command of Compose.
func (p *project) run(ctx context.Context, args ...string) ([]byte, error) {
	all := append(slices.Clone(p.command[1:]), args...)
	cmd := exec.CommandContext(ctx, p.command[0], all...)
	cmd.Env = p.env
	return cmd.CombinedOutput()
}

// killOne ends one environment of a function, as a power cut would.
func (p *project) killOne(t *testing.T, service string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.command[0], append(slices.Clone(p.command[1:]), "ps", "-q", service)...)
	cmd.Env = p.env
	out, err := cmd.Output()
	ids := strings.Fields(string(out))
	if err != nil || len(ids) < 2 {
		t.Fatalf("%s has the containers %v, %v", service, ids, err)
	}
	if said, err := exec.CommandContext(t.Context(), "docker", "kill", ids[0]).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
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
