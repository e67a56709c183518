package main

import (
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// Every command that takes several ids does what it can, names each id that it does not know, wherever that stands, and
// says the same beforehand in a dry run.
func TestCommandsWithSeveralIDsNameAllUnknownOnes(t *testing.T) {
	admin := newRig(t, nodetest.Start(t, "api"))
	admin.env["BELFRY_TOKEN"], _ = admin.makeToken("--name", "operations", "--role", "admin")
	r := newRig(t, nodetest.Start(t, "all"))
	failed := func() string {
		id := r.submit("fail", "--payload", `{"permanent":true}`)
		r.run("jobs", "wait", id)
		return id
	}
	jobs := [2]string{"987654", "987655"}
	cases := map[string]struct {
		on      *rig
		unknown [2]string
		good    func() string
		done    string // the output for the id that exists, with ID in its place
		dry     string // the same with --dry-run; "" if the command has no such flag
	}{
		"jobs get":             {r, jobs, func() string { return r.submit("later", "--delay", "1h") }, "ID", ""},
		"jobs cancel":          {r, jobs, func() string { return r.submit("later", "--delay", "1h") }, "job ID is cancelled", "1 job would be cancelled"},
		"jobs retry":           {r, jobs, failed, "job ID is scheduled again", ""},
		"jobs wait":            {r, jobs, func() string { return r.submit("echo") }, "ID", ""},
		"dead-letters redrive": {r, jobs, failed, "1 job scheduled again", "1 dead letter would be"},
		"dead-letters discard": {r, jobs, failed, "1 deleted", "1 dead letter would be"},
		"tokens revoke": {admin, [2]string{"nope", "nope2"}, func() string {
			_, id := admin.makeToken("--name", "shop", "--role", "read")
			return id
		}, "revoked ID", "revoked would be ID"},
	}
	for path, c := range leaves(t) {
		if !strings.Contains(c.Use, "...") && !strings.Contains(c.Use, "…") {
			continue
		}
		is, known := cases[path]
		if !known {
			t.Errorf("belfry %s takes several arguments and has no case here", path)
			continue
		}
		id := is.good()
		run := func(want string, flags ...string) {
			t.Helper()
			args := append(strings.Fields(path), is.unknown[0], id, is.unknown[1])
			code := is.on.run(append(args, flags...)...)
			if code != console.ExitNotFound || !strings.Contains(is.on.out, strings.ReplaceAll(want, "ID", id)) {
				t.Errorf("%q %q: %d, want %d and %q\n%s%s", args, flags, code, console.ExitNotFound, want, is.on.out, is.on.errs)
			}
			for _, name := range is.unknown {
				if !strings.Contains(is.on.errs, name) {
					t.Errorf("%q %q: %s is not named\n%s", args, flags, name, is.on.errs)
				}
			}
		}
		if is.dry != "" {
			run(is.dry, "--dry-run")
			run(is.done, "--yes")
			continue
		}
		run(is.done)
	}
}
