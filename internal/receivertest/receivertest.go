// Package receivertest runs the receivers of docs/examples/webhooks, each a program of its own that verifies what
// arrives with the Standard Webhooks library of its language and nothing else.
package receivertest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/internal/testenv"
)

// Languages are those there are receivers in, with the name of the program's source.
var Languages = map[string]string{"go": "main.go", "python": "receiver.py", "node": "receiver.mjs"}

// Receiver is a receiver at work.
type Receiver struct {
	URL    string
	worked chan map[string]int
	cmd    *exec.Cmd
	errors bytes.Buffer // what it wrote to its standard error
	once   sync.Once
	jobs   map[string]int
}

// Dir is the folder of a language's receiver, seen from the root of the repository.
func Dir(root, language string) string {
	return filepath.Join(root, "docs", "examples", "webhooks", language)
}

// Start runs a language's receiver with a signing secret until the test ends. root is the repository's. Where the
// language is not to be had the test is skipped, or fails if that is required; see testenv.
func Start(t testing.TB, root, language, secret string) *Receiver {
	t.Helper()
	dir, err := filepath.Abs(Dir(root, language))
	if err != nil {
		t.Fatal(err)
	}
	r := &Receiver{cmd: command(t, dir, language), worked: make(chan map[string]int, 1)}
	r.cmd.Dir, r.cmd.Stderr = dir, &r.errors
	r.cmd.Env = append(os.Environ(), "PORT=0", "BELFRY_WEBHOOK_SECRET="+secret)
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if r.Stop(); t.Failed() {
			t.Logf("the receiver in %s: %s", language, r.errors.String())
		}
	})
	address := make(chan string, 1)
	go func() { r.worked <- read(out, address) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case r.URL = <-address:
	case <-ctx.Done():
	}
	if r.URL == "" {
		t.Fatalf("the receiver in %s does not say where it listens", language)
	}
	return r
}

func command(t testing.TB, dir, language string) *exec.Cmd {
	t.Helper()
	switch source := Languages[language]; language {
	case "python":
		return exec.Command(testenv.Python(t, dir, "standardwebhooks"), source)
	case "node":
		return exec.Command(testenv.Node(t, dir, "standardwebhooks"), source)
	}
	binary := filepath.Join(t.TempDir(), "receiver")
	build := exec.Command(testenv.Program(t, "go"), "build", "-o", binary, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return exec.Command(binary)
}

// said finds each job in a line: threads may print two to one.
var said = regexp.MustCompile(`job (?:msg_[a-z0-9]+_)?([0-9]+)`)

// read follows what a receiver prints, until it ends: where it listens, and how often it works on each job.
func read(out io.Reader, address chan<- string) map[string]int {
	jobs := map[string]int{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			address <- url
		}
		for _, match := range said.FindAllStringSubmatch(lines.Text(), -1) {
			jobs[match[1]]++
		}
	}
	close(address)
	return jobs
}

// Stop ends the receiver and returns how often it worked on each job, by id.
func (r *Receiver) Stop() map[string]int {
	r.once.Do(func() {
		_ = r.cmd.Process.Kill()
		r.jobs = <-r.worked
		_ = r.cmd.Wait()
	})
	return maps.Clone(r.jobs)
}
