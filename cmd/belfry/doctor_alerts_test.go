package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// within runs a command line until it says something, for what a tick does in its own time.
func (r *rig) within(says string, args ...string) {
	r.t.Helper()
	for start := time.Now(); ; {
		r.run(args...)
		if strings.Contains(r.out, says) {
			return
		}
		if time.Since(start) > time.Minute {
			r.t.Fatalf("belfry %q never says %q:\n%s%s", args, says, r.out, r.errs)
		}
	}
}

// Alerts that are open are there by kind, subject and detail, and with what to do.
func TestDoctorListsOpenAlerts(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "all"))
	r.ok("doctor")
	if !strings.Contains(r.out, "ok        alerts        none is open\n") || !strings.Contains(r.out, "ok        mode          workers claim from the table\n") {
		t.Errorf("where all is well:\n%s", r.out)
	}
	r.run("jobs", "submit", "fail", "--payload", `{"permanent":true}`, "--tenant", "acme", "--wait")
	r.within("warning   alert         job_failed fail/", "doctor")
	for _, says := range []string{", since ", "failed as asked", "→ belfry dead-letters list"} {
		if !strings.Contains(r.out, says) {
			t.Errorf("doctor does not say %q:\n%s", says, r.out)
		}
	}
	if code := r.run("doctor", "--json"); code != console.ExitFailed || !strings.Contains(r.out, `{"check":"alert","state":"warning","text":"job_failed fail/`) {
		t.Errorf("%d %s", code, r.out)
	}
}

// On SQLite too, where nothing but the API can be asked.
func TestDoctorNamesUnhandledTypes(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "all"))
	r.ok("jobs", "submit", "nobody/handles")
	r.within("warning   unhandled     1 job due, of types that no worker handles: nobody/handles (1)\n", "doctor")
	if !strings.Contains(r.out, "ok        workers       1 is alive; 0 of ") {
		t.Error(r.out)
	}
	if out := r.ok("stats"); !strings.Contains(out, "UNHANDLED\n") || !strings.Contains(out, "nobody/handles") {
		t.Error(out)
	}
}

// The mode is the server's, whatever the environment that doctor runs in says.
func TestDoctorSaysTheServersMode(t *testing.T) {
	names := []string{"BELFRY_QUEUE_CRITICAL_URL", "BELFRY_QUEUE_DEFAULT_URL", "BELFRY_QUEUE_BULK_URL"}
	for _, name := range names {
		t.Setenv(name, "mem://"+strings.ToLower(name))
	}
	queues := newRig(t, nodetest.Start(t, "all"))
	queues.ok("doctor")
	if !strings.Contains(queues.out, "ok        mode          workers are fed through queues\n") || !strings.Contains(queues.out, "ok        queue         in the memory of its process\n") {
		t.Errorf("with queues here and there:\n%s", queues.out)
	}
	for _, name := range names {
		os.Unsetenv(name)
	}
	queues.ok("doctor")
	if !strings.Contains(queues.out, "workers are fed through queues") || strings.Contains(queues.out, "claim from the table") || !strings.Contains(queues.out, "left out  queue         no BELFRY_QUEUE_…_URL here, so that those of the server are not looked at\n") {
		t.Errorf("with queues there only:\n%s", queues.out)
	}
	direct := newRig(t, nodetest.Start(t, "all"))
	for _, name := range names {
		t.Setenv(name, "mem://"+strings.ToLower(name))
	}
	if code := direct.run("doctor"); code != console.ExitFailed || !strings.Contains(direct.out, "warning   queue         BELFRY_QUEUE_…_URL is set here, and the server's workers claim from the table\n") {
		t.Errorf("with queues here only: %d\n%s", code, direct.out)
	}
}

// A token for one tenant is told nothing of what is counted for all: that is no good news.
func TestDoctorWithATenantsToken(t *testing.T) {
	server := newRig(t, nodetest.Start(t, "api"))
	admin := strings.TrimSpace(server.ok("tokens", "create", "--role", "admin", "--name", "all"))
	tenant := strings.TrimSpace(server.ok("tokens", "create", "--role", "read", "--name", "one", "--tenant", "acme", "--token", admin))
	for token, want := range map[string]string{admin: "ok        stuck", tenant: "left out  stuck         not visible with this token"} {
		server.run("doctor", "--token", token)
		if !strings.Contains(server.out, want) {
			t.Errorf("no %q in\n%s%s", want, server.out, server.errs)
		}
		if hidden := strings.Count(server.out, "not visible"); hidden != map[string]int{admin: 0, tenant: 2}[token] {
			t.Errorf("%d checks are not visible:\n%s", hidden, server.out)
		}
	}
}
