package composetest

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/testenv"
)

// The life of one project: it comes up on nothing, runs what a user submits with curl, goes on when a tick and a worker
// are killed, stops in order, and has its jobs again when it comes up anew.
func TestCompose(t *testing.T) {
	p := newProject(t)
	p.up(t)
	p.healthy(t)
	var first string
	run := func(name string, part func(t *testing.T)) {
		if !t.Run(name, part) {
			t.FailNow()
		}
	}
	run("a job submitted with curl runs", func(t *testing.T) { first = p.curl(t) })
	run("a tick and a worker are killed and jobs still run", p.takeover)
	run("stops in order and keeps its jobs", func(t *testing.T) { p.stopAndStart(t, first) })
}

// healthy waits until the engine calls every service healthy.
func (p *project) healthy(t *testing.T) {
	t.Helper()
	for _, service := range append([]string{"postgres", "rabbitmq"}, ours...) {
		eventually(t, service+" is healthy", func() bool { return p.inspect(t, service, "{{.State.Health.Status}}") == "healthy" })
	}
	for _, service := range ours {
		if user := p.inspect(t, service, "{{.Config.User}}"); user != "65532:65532" {
			t.Errorf("%s runs as %q", service, user)
		}
	}
	if said := docker(t, "exec", p.container(t, "tick-1"), "/server", "health"); said != `{"status":"ok","roles":{"tick":"ok"}}` {
		t.Errorf("tick-1 says %s", said)
	}
}

// curl runs the commands of docs/compose.md and returns the id of their job, which must be done.
func (p *project) curl(t *testing.T) (id string) {
	testenv.Program(t, "curl")
	text, err := os.ReadFile(root + "/docs/compose.md")
	if err != nil {
		t.Fatal(err)
	}
	var submitted, ended job
	ran := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for command := range strings.SplitSeq(strings.ReplaceAll(block[1], "\\\n", ""), "\n") {
			if !strings.HasPrefix(command, "curl ") {
				continue
			}
			command = strings.NewReplacer("http://127.0.0.1:8080", p.url, "/ID?", "/"+submitted.ID+"?").Replace(command)
			out, err := exec.CommandContext(t.Context(), "sh", "-c", command).Output()
			into := &submitted
			if ran++; ran == 2 {
				into = &ended
			}
			if err == nil {
				err = json.Unmarshal(out, into)
			}
			if err != nil {
				t.Fatalf("%s: %v: %s", command, err, out)
			}
		}
	}
	if ran != 2 || ended.ID != submitted.ID || ended.Status != "done" {
		t.Fatalf("%d curl commands submitted %+v and saw %+v", ran, submitted, ended)
	}
	return ended.ID
}

// stopAndStart stops everything while a job runs, throws the containers away, and starts again on what the volume has.
func (p *project) stopAndStart(t *testing.T, first string) {
	p.up(t) // what was killed
	held := p.submit(t, `{"type":"sleep","payload":{"ms":3600000},"tags":["held"]}`)
	eventually(t, "the job runs", func() bool { return p.get(t, held.ID).Status == "running" })
	p.run(t, "stop")
	for _, service := range ours {
		if code := p.inspect(t, service, "{{.State.ExitCode}} {{.State.OOMKilled}}"); code != "0 false" {
			t.Errorf("%s was stopped and ended with %s", service, code)
		}
	}
	p.run(t, "down")
	p.up(t)
	if kept := p.get(t, first); kept.Status != "done" {
		t.Errorf("the first job is %+v", kept)
	}
	var again job
	eventually(t, "the job that was handed back runs again", func() bool {
		again = p.get(t, held.ID)
		return again.Status == "running"
	})
	if again.Attempts != 1 {
		t.Errorf("the stop cost the job an attempt: %+v", again)
	}
	if _, err := p.done(t.Context(), p.submit(t, `{"type":"echo","payload":1}`).ID); err != nil {
		t.Error(err)
	}
}
