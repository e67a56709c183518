package webhook

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// examples are the receivers of docs/webhooks.md, each with the library of its language alone.
var examples = []struct {
	name, source string
	deliveries   int
	command      func(t *testing.T, dir string) *exec.Cmd
}{
	{"go", "main.go", 1_000, func(t *testing.T, dir string) *exec.Cmd {
		binary := filepath.Join(t.TempDir(), "receiver")
		build := exec.Command(testenv.Program(t, "go"), "build", "-o", binary, ".")
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return exec.Command(binary)
	}},
	{"python", "receiver.py", 10_000, func(t *testing.T, dir string) *exec.Cmd {
		return exec.Command(testenv.Python(t, dir, "standardwebhooks"), "receiver.py")
	}},
	{"node", "receiver.mjs", 1_000, func(t *testing.T, dir string) *exec.Cmd {
		return exec.Command(testenv.Node(t, dir, "standardwebhooks"), "receiver.mjs")
	}},
}

func exampleDir(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "docs", "examples", "webhooks", name))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Receivers in other languages verify what is delivered, through a rotation of the secret, and refuse what was
// changed and what is old. A delivery that comes again carries the same id, and its work is done once.
func TestReceiversInOtherLanguagesVerify(t *testing.T) {
	old, fresh := secretOf(bytes.Repeat([]byte("o"), 24)), secretOf(bytes.Repeat([]byte("n"), 64))
	for _, example := range examples {
		t.Run(example.name, func(t *testing.T) {
			dir, count := exampleDir(t, example.name), example.deliveries
			if testing.Short() {
				count = 300
			}
			withOld := runExample(t, example.command(t, dir), dir, old)
			withFresh := runExample(t, example.command(t, dir), dir, fresh)
			before, during, after := senderOf(t, old), senderOf(t, fresh, old), senderOf(t, fresh)

			deliverAll(t, before, withOld, 0, count/4)
			deliverAll(t, during, withOld, count/4, count/4)
			deliverAll(t, during, withFresh, 0, count/4)
			deliverAll(t, after, withFresh, count/4, count-3*(count/4))
			deliverAll(t, after, withFresh, 0, 20) // again: the answers were lost, say
			refuses(t, before, withFresh, "signed by the old secret alone")
			refuses(t, after, withOld, "signed by the new secret alone")
			for name, shift := range map[string]time.Duration{"six minutes old": -6 * time.Minute, "of six minutes ahead": 6 * time.Minute} {
				late := newWebhook(t, Options{Guard: loopback(t), Secrets: []string{fresh}, Now: func() time.Time { return time.Now().Add(shift) }})
				refuses(t, late, withFresh, name)
			}
			tampered(t, after, withFresh)
			if got, want := withOld.stop()+withFresh.stop(), count; got != want {
				t.Errorf("%d jobs were worked on, want %d", got, want)
			}
		})
	}
}

func senderOf(t *testing.T, secrets ...string) *Webhook {
	return newWebhook(t, Options{Guard: loopback(t), Secrets: secrets, PerHost: 4, PerWait: time.Minute})
}

func exampleJob(url string, id int) *core.Job {
	return &core.Job{
		ID: int64(id) + 1, Payload: fmt.Appendf(nil, `{"n": %d, "text":"é \u00e9 😀 </script>","big":12345678901234567890123}`, id),
		Attempts: 1, MaxAttempts: 5, LeaseToken: 1, Target: targetOf(url),
	}
}

// deliverAll delivers jobs first … first+count-1, each of which must be done.
func deliverAll(t *testing.T, w *Webhook, to *running, first, count int) {
	t.Helper()
	var wait sync.WaitGroup
	for lane := range 4 {
		wait.Go(func() {
			for id := first + lane; id < first+count; id += 4 {
				if _, err := w.Work(t.Context(), exampleJob(to.url, id)); err != nil {
					t.Errorf("job %d: %v", id, err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// refuses delivers one job, which the receiver must answer with 401.
func refuses(t *testing.T, w *Webhook, to *running, what string) {
	t.Helper()
	_, err := w.Work(t.Context(), exampleJob(to.url, 1_000_000))
	if !core.IsPermanent(err) || !strings.Contains(err.Error(), "401") {
		t.Errorf("%s: %v", what, err)
	}
}

// tampered sends deliveries of which one part was changed after signing.
func tampered(t *testing.T, w *Webhook, to *running) {
	t.Helper()
	job := exampleJob(to.url, 2_000_000)
	for _, change := range []string{"payload", "webhook-id", "webhook-timestamp", "webhook-signature", "no webhook-signature"} {
		target, err := w.guard.parseTarget(job.Target)
		if err != nil {
			t.Fatal(err)
		}
		req, err := w.newRequest(t.Context(), target, job)
		if err != nil {
			t.Fatal(err)
		}
		switch name, remove := strings.CutPrefix(change, "no "); {
		case change == "payload":
			other, err := http.NewRequest(http.MethodPost, to.url, strings.NewReader(strings.Replace(string(job.Payload), "2", "3", 1)))
			if err != nil {
				t.Fatal(err)
			}
			other.Header = req.Header
			req = other
		case remove:
			req.Header.Del(name)
		default:
			text := []byte(req.Header.Get(name))
			text[len(text)/2] ^= 1 // not the end, where base64 has bits that mean nothing
			req.Header.Set(name, string(text))
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("changed %s: answered %d", change, resp.StatusCode)
		}
	}
}

// running is an example's process.
type running struct {
	url  string
	stop func() (jobs int) // ends it; how many different jobs it worked on
}

func runExample(t *testing.T, cmd *exec.Cmd, dir, secret string) *running {
	t.Helper()
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "PORT=0", "BELFRY_WEBHOOK_SECRET="+secret)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address, jobs := make(chan string, 1), make(chan int, 1)
	go func() {
		lines := bufio.NewScanner(out)
		worked := 0
		for lines.Scan() {
			if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
				address <- url
			}
			worked += strings.Count(lines.Text(), "job ") // threads may print two to a line
		}
		close(address)
		jobs <- worked
	}()
	stop := sync.OnceValue(func() int {
		_ = cmd.Process.Kill()
		worked := <-jobs
		_ = cmd.Wait()
		return worked
	})
	t.Cleanup(func() { stop() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case url := <-address:
		if url == "" {
			t.Fatal("the receiver ended before it listened")
		}
		return &running{url, stop}
	case <-ctx.Done():
		t.Fatal("the receiver does not say where it listens")
	}
	return nil
}
