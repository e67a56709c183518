package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/client"
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
	if code := r.run("doctor", "--json"); code != exitFailed || !strings.Contains(r.out, `{"check":"alert","state":"warning","text":"job_failed fail/`) {
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

// Of many alerts the newest are told, and how many more there are.
func TestDoctorBoundsAlerts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Query().Get("open") != "true" {
			t.Error("asks for alerts that are over")
		}
		item := `{"id":"1","kind":"schedule_missed","subject":"nightly","detail":"no \u001b[2J","raised_at":"2026-01-02T03:04:05Z"}`
		fmt.Fprint(w, `{"items":[`+strings.Repeat(item+",", 14)+item+`],"next_cursor":""}`)
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var f findings
	checkAlerts(t.Context(), &f, c)
	if got := states(t, f); len(f) != 11 || f[10].Text != "5 more are open" || f[0].Text != "schedule_missed nightly, since 2026-01-02 03:04:05Z: no \x1b[2J" {
		t.Errorf("%s %+v", got, f)
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
	if code := direct.run("doctor"); code != exitFailed || !strings.Contains(direct.out, "warning   queue         BELFRY_QUEUE_…_URL is set here, and the server's workers claim from the table\n") {
		t.Errorf("with queues here only: %d\n%s", code, direct.out)
	}
}
