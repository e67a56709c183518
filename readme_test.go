package belfry_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/receivertest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// What stands in the README for what only the reader's machine knows.
const (
	readmeProgram  = "go run ./cmd/local"
	readmeAddress  = "http://127.0.0.1:8080"
	readmeDatabase = "postgres://user:password@localhost:5432/belfry"
	readmeTests    = "go test -race -timeout 30m ./..." // CI runs it by itself
	readmeReceiver = "http://127.0.0.1:8090/"
	readmeSecret   = "export BELFRY_WEBHOOK_SECRETS=whsec_$(openssl rand -base64 32)"
	readmeListen   = "PORT=8090 BELFRY_WEBHOOK_SECRET=$BELFRY_WEBHOOK_SECRETS go run ./docs/examples/webhooks/go &"
)

func TestReadmeOnSQLite(t *testing.T) {
	commands := readmeCommands(t)
	if !slices.Contains(commands, readmeProgram) {
		t.Fatalf("the README does not say %q", readmeProgram)
	}
	data := filepath.Join(t.TempDir(), "belfry.db")
	address := startLocal(t, buildLocal(t), "-addr", "127.0.0.1:0", "-data", data)
	submitAndWait(t, commands, address)
}

func TestReadmeOnPostgreSQL(t *testing.T) {
	commands := readmeCommands(t)
	database := testenv.Postgres(t)
	program := buildLocal(t)
	var address string
	for _, command := range commands {
		flags, ok := strings.CutPrefix(command, readmeProgram+" ")
		if !ok {
			continue
		}
		args := strings.Fields(strings.ReplaceAll(flags, readmeDatabase, database))
		if at := startLocal(t, program, append(args, "-addr", "127.0.0.1:0")...); at != "" {
			address = at
		}
	}
	submitAndWait(t, commands, address)
}

// The README's webhook: its receiver gets the job that its curl submits.
func TestReadmeWebhook(t *testing.T) {
	testenv.Program(t, "curl")
	testenv.Program(t, "openssl")
	commands := readmeCommands(t)
	at := slices.IndexFunc(commands, func(c string) bool { return strings.HasPrefix(c, "curl ") && strings.Contains(c, readmeReceiver) })
	if at < 0 || !slices.Contains(commands, readmeSecret) || !slices.Contains(commands, readmeListen) {
		t.Fatalf("the README does not say how to run a webhook: %q", commands)
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "echo "+strings.TrimPrefix(readmeSecret, "export BELFRY_WEBHOOK_SECRETS=")).Output()
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.TrimSpace(string(out))
	t.Setenv("BELFRY_WEBHOOK_SECRETS", secret)
	receiver := receivertest.Start(t, ".", "go", secret)
	address := startLocal(t, buildLocal(t), "-addr", "127.0.0.1:0", "-data", filepath.Join(t.TempDir(), "belfry.db"))
	command := strings.NewReplacer(readmeAddress, address, readmeReceiver, receiver.URL+"/").Replace(commands[at])
	var job struct{ ID, Status string }
	for _, command := range []string{command, "curl -s '" + address + "/v1/jobs/1?wait=30s'"} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", command).Output()
		if err == nil {
			err = json.Unmarshal(out, &job)
		}
		if err != nil {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
	}
	if job.Status != "done" {
		t.Errorf("the job is %q", job.Status)
	}
	if worked := receiver.Stop(); worked[job.ID] != 1 {
		t.Errorf("the receiver worked on %v, want job %s", worked, job.ID)
	}
}

// submitAndWait runs the README's curl commands at an address: the first
// submits a job, the second waits for it, and it must be done; the third makes a schedule.
func submitAndWait(t *testing.T, commands []string, address string) {
	t.Helper()
	testenv.Program(t, "curl")
	job := struct{ ID, Status string }{ID: "ID"}
	ran := 0
	for _, command := range commands {
		if !strings.HasPrefix(command, "curl ") || strings.Contains(command, readmeReceiver) {
			continue
		}
		command = strings.ReplaceAll(command, readmeAddress, address)
		command = strings.ReplaceAll(command, "/ID?", "/"+job.ID+"?")
		out, err := exec.CommandContext(t.Context(), "sh", "-c", command).Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		var made struct {
			NextDue string `json:"next_due"`
		}
		to := any(&job)
		if strings.Contains(command, "/v1/schedules/") {
			to = &made
		}
		if err := json.Unmarshal(out, to); err != nil || to != any(&job) && made.NextDue == "" {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		ran++
	}
	if ran != 3 || job.Status != "done" {
		t.Errorf("%d curl commands ended with a job that is %q; want 3 and done", ran, job.Status)
	}
}

// readmeCommands are the commands of all its sh blocks. One that no test here runs is an error.
func readmeCommands(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		joined := strings.ReplaceAll(block[1], "\\\n", "")
		for line := range strings.Lines(joined) {
			commands = append(commands, strings.TrimSpace(line))
		}
	}
	for _, command := range commands {
		known := command == readmeTests || strings.HasPrefix(command, readmeProgram) || strings.HasPrefix(command, "curl ") ||
			command == readmeSecret || command == readmeListen
		if !known {
			t.Errorf("no test runs the README's %q", command)
		}
	}
	return commands
}

func buildLocal(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "local")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/local").CombinedOutput(); err != nil {
		t.Fatalf("build cmd/local: %v\n%s", err, out)
	}
	return program
}

// startLocal starts the program, waits until it has said that it runs and
// returns the address of its API, if it has one. It is stopped as Ctrl-C stops
// it when the test ends.
func startLocal(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	printed := bufio.NewReader(out)
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if _, err := io.Copy(io.Discard, printed); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, log.String())
		}
	})
	greeting, err := printed.ReadString('\n')
	if err != nil {
		t.Fatalf("ended without a greeting: %v", err)
	}
	if !strings.HasPrefix(greeting, "Belfry ") {
		t.Fatalf("greeting: %q", greeting)
	}
	if slices.Contains(args, "tick") || slices.Contains(args, "worker") {
		return ""
	}
	api, err := printed.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`http://[^/\s]+`).FindString(api)
	if address == "" {
		t.Fatalf("no address in %q", api)
	}
	return address
}
