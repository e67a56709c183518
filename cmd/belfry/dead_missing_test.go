package main

import (
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// Ids that are no dead letters are named, and end the command as they end other commands; the others are changed.
func TestIdsThatAreNoDeadLettersAreNamed(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "all"))
	var dead []string
	for range 7 {
		dead = append(dead, r.submit("fail", "--payload", `{"permanent":true}`))
		r.run("jobs", "wait", dead[len(dead)-1])
	}
	live := r.submit("later", "--delay", "1h")
	for _, c := range []struct {
		args string
		out  string
		gone string // "" where all are there
	}{
		{"discard 987654 987653 --yes", "0 deleted", "987653, 987654"},
		{"redrive 987654 --yes", "0 jobs scheduled again", "987654"},
		{"discard " + live + " --yes --json", `{"discarded":0}`, live},
		{"discard --dry-run " + dead[0] + " 987654", "1 dead letter would be", "987654"},
		{"discard --type other --dry-run " + dead[0], "0 dead letters would be", dead[0]},
		{"discard --yes " + dead[0] + " " + dead[0] + " " + dead[1], "2 deleted", ""},
		{"discard --yes " + dead[0] + " " + dead[2], "1 deleted", dead[0]},
		{"redrive --yes " + strings.Join(dead[1:6], " ") + " " + live, "3 jobs scheduled again", dead[1] + ", " + dead[2] + ", " + live},
		{"redrive --yes --after " + dead[6] + " " + dead[6], "0 jobs scheduled again", ""},
		{"discard --yes --limit 1 " + dead[6], "1 deleted", ""},
		{"discard --yes --type nothing", "0 deleted", ""},
	} {
		code := r.run(append([]string{"dead-letters"}, strings.Fields(c.args)...)...)
		want, says := console.ExitOK, ""
		if c.gone != "" {
			want, says = console.ExitNotFound, "no dead letter among those meant has the id "+c.gone
		}
		if code != want || !strings.HasPrefix(r.out, c.out) || !strings.Contains(r.errs, says) {
			t.Errorf("%s: %d %s%s\nwant %d %q %q", c.args, code, r.out, r.errs, want, c.out, says)
		}
	}
}
