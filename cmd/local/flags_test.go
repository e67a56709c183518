package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/internal/cmdlinetest"
)

// Queues in memory join nobody but the parts of one process.
func TestTickAndWorkerStayTogetherOverMem(t *testing.T) {
	for _, p := range []string{"CRITICAL", "DEFAULT", "BULK"} {
		t.Setenv("BELFRY_QUEUE_"+p+"_URL", "mem://"+strings.ToLower(p))
	}
	for role, fits := range map[string]bool{"all": true, "api": true, "tick,worker": true, "tick": false, "worker": false, "worker,api": false} {
		_, err := parse([]string{"-database-url", "postgres://h/db", "-role", role}, io.Discard)
		switch {
		case fits && err != nil:
			t.Errorf("-role %s: %v", role, err)
		case !fits && (err == nil || !strings.Contains(err.Error(), "BELFRY_QUEUE_")):
			t.Errorf("-role %s: want it refused by the queues' setting, got %v", role, err)
		}
	}
}

// Receivers on this machine are within reach without a setting only while submitters are on it too.
func TestWebhooksReachThisMachineOnlyFromIt(t *testing.T) {
	for _, row := range []struct {
		args    []string
		setting string
		open    bool
	}{
		{nil, "", true},
		{[]string{"-addr", "localhost:0"}, "", true},
		{[]string{"-addr", "[::1]:0"}, "", true},
		{[]string{"-addr", "127.8.9.10:0"}, "", true},
		{[]string{"-addr", "0.0.0.0:0"}, "", false},
		{[]string{"-addr", ":8080"}, "", false},
		{[]string{"-addr", "192.168.1.2:8080"}, "", false},
		{[]string{"-database-url", "postgres://h/db", "-role", "worker"}, "", false},
		{[]string{"-database-url", "postgres://h/db", "-role", "api,worker"}, "", false},
		{nil, "BELFRY_TOKENS=a-token-of-twenty-characters", false},
		{nil, "BELFRY_INSECURE=true", false},
	} {
		name, value, _ := strings.Cut(row.setting, "=")
		if name != "" {
			t.Setenv(name, value)
		}
		o, err := parse(row.args, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.ThisMachine(); got != row.open || len(o.Settings.WebhookAllow) > 0 {
			t.Errorf("%v %s: open %t, allows %q", row.args, name, got, o.Settings.WebhookAllow)
		}
		if name != "" {
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A fault is blamed on what was given: the flag where there is one, else the variable.
func TestFaultsNameTheFlag(t *testing.T) {
	for _, row := range []struct {
		args      []string
		workers   string
		says, not string
	}{
		{[]string{"-workers", "0"}, "", "-workers: is 0, want 1 to 100000", "BELFRY_WORKERS"},
		{[]string{"-workers", "0", "-tick", "2h"}, "", "-tick: is 2h0m0s", "BELFRY_TICK:"},
		{nil, "0", "BELFRY_WORKERS: is 0", "-workers"},
		{[]string{"-tick", "2h"}, "", "-tick: is 2h0m0s", "BELFRY_TICK:"},
		{[]string{"-database-url", "mysql://u:s3cr3t@h"}, "", "-database-url: want a URL", "s3cr3t"},
	} {
		if row.workers != "" {
			t.Setenv("BELFRY_WORKERS", row.workers)
		}
		_, err := parse(row.args, io.Discard)
		if err == nil || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), row.not) {
			t.Errorf("%q: %v", row.args, err)
		}
		if row.workers != "" {
			t.Setenv("BELFRY_WORKERS", "10")
		}
	}
}

// Every flag, whoever adds it, is meant where it is given.
func TestNoFlagIsMeantAsNothing(t *testing.T) {
	cmdlinetest.Walk(t, func(args []string, errs io.Writer) error { _, err := parse(args, errs); return err })
	t.Setenv("BELFRY_DATABASE_URL", "postgres://h/db")
	if _, err := parse([]string{"-data", "mine.db"}, io.Discard); err == nil || !strings.Contains(err.Error(), "-data") {
		t.Errorf("-data beside a database URL: %v", err)
	}
}
