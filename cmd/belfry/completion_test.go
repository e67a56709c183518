package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// Each shell that is here loads its script without a word, and then knows the command.
func TestCompletionLoads(t *testing.T) {
	r := newRig(t, "http://127.0.0.1:1")
	for shell, c := range map[string]struct {
		program string
		load    []string // $SCRIPT is the script
		knows   string
	}{
		"bash":       {"bash", []string{"--norc", "--noprofile", "-eu", "-c", `source "$SCRIPT"; complete -p belfry`}, "-F __start_belfry belfry"},
		"zsh":        {"zsh", []string{"-f", "-c", `autoload -U compinit; compinit -u -D; source "$SCRIPT"; print ${_comps[belfry]}`}, "_belfry"},
		"fish":       {"fish", []string{"--no-config", "-c", `source $SCRIPT; complete -c belfry | string collect`}, "belfry"},
		"powershell": {"pwsh", []string{"-NoProfile", "-NonInteractive", "-Command", `. $env:SCRIPT; "loaded"`}, "loaded"},
	} {
		t.Run(shell, func(t *testing.T) {
			text := r.ok("completion", shell)
			if !strings.Contains(text, "belfry") || r.errs != "" {
				t.Fatalf("%.200s%s", text, r.errs)
			}
			path := testenv.Program(t, c.program)
			script := filepath.Join(t.TempDir(), "belfry.ps1")
			if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			shell := exec.CommandContext(t.Context(), path, c.load...)
			shell.Env = append(os.Environ(), "SCRIPT="+script)
			out, errs, code := outcome(t, shell)
			if code != 0 || errs != "" || !strings.Contains(out, c.knows) {
				t.Errorf("%d\n%s%s", code, out, errs)
			}
		})
	}
}

// What the scripts ask the program.
func TestCompletionKnows(t *testing.T) {
	for line, want := range map[string]string{
		"jobs l":                  "list",
		"d":                       "dead-letters",
		"jobs list --status ":     "cancelled",
		"jobs submit --priority ": "critical",
		"tokens create --role ":   "admin",
		"types p":                 "put",
	} {
		args := strings.Split(line, " ")
		out, errs, code := outcome(t, program(t, nil, append([]string{"__complete"}, args...)...))
		if code != console.ExitOK || !strings.Contains(out, want) {
			t.Errorf("%q: %d\n%s%s", line, code, out, errs)
		}
	}
}

// A shell that there is not, or none, is refused as any unknown command is.
func TestCompletionOfNoShell(t *testing.T) {
	r := newRig(t, "")
	for _, args := range [][]string{{"completion"}, {"completion", ""}, {"completion", "ksh"}} {
		if code := r.run(args...); code != console.ExitUsage || r.out != "" || !strings.Contains(r.errs, "belfry completion") {
			t.Errorf("%q: %d %s%s", args, code, r.out, r.errs)
		}
	}
}
