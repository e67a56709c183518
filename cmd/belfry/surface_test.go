package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/cmdlinetest"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// sample is a command line of one command that makes sense, and what kind of command it is. A new command needs one.
type sample struct {
	args     string
	calls    bool // it calls the API first of all
	destroys bool // what it does cannot be undone, or touches many: it counts first and asks
}

var samples = map[string]sample{
	"jobs submit":              {args: "later --delay 1h", calls: true},
	"jobs get":                 {args: "1", calls: true},
	"jobs list":                {calls: true},
	"jobs cancel":              {args: "1", calls: true, destroys: true},
	"jobs retry":               {args: "1", calls: true},
	"jobs reschedule":          {args: "1 --delay 1h", calls: true},
	"jobs wait":                {args: "1 --for 1ms", calls: true},
	"dead-letters list":        {calls: true},
	"dead-letters groups":      {calls: true},
	"dead-letters redrive":     {args: "--all", calls: true, destroys: true},
	"dead-letters discard":     {args: "--all", calls: true, destroys: true},
	"types list":               {calls: true},
	"types get":                {args: "a", calls: true},
	"types put":                {args: "a", calls: true},
	"types delete":             {args: "a", calls: true, destroys: true},
	"schedules list":           {calls: true},
	"schedules get":            {args: "a", calls: true},
	"schedules put":            {args: "a --cron @daily --type a", calls: true},
	"schedules delete":         {args: "a", calls: true, destroys: true},
	"schedules pause":          {args: "a", calls: true},
	"schedules resume":         {args: "a", calls: true},
	"schedules trigger":        {args: "a", calls: true},
	"schedules backfill":       {args: "a --from 2026-01-01T00:00:00Z --to 2026-01-02T00:00:00Z", calls: true, destroys: true},
	"schedules occurrences":    {args: "a", calls: true},
	"schedules next":           {args: "a", calls: true},
	"schedules preview":        {args: "--cron @daily", calls: true},
	"schedules apply":          {args: "testdata/schedules.yaml", calls: true, destroys: true},
	"schedules import crontab": {args: "testdata/crontab --type shell", calls: true, destroys: true},
	"alerts list":              {calls: true},
	"tokens create":            {args: "--name n --role read", calls: true},
	"tokens list":              {calls: true},
	"tokens revoke":            {args: "a", calls: true, destroys: true},
	"webhooks secret":          {args: "--type belfry.alert"},
	"profiles list":            {},
	"profiles set":             {args: "p --url http://127.0.0.1:1"},
	"profiles delete":          {args: "p", destroys: true},
	"migrate up":               {args: "--database-url postgres://127.0.0.1:1/x"},
	"migrate status":           {args: "--database-url postgres://127.0.0.1:1/x"},
	"doctor":                   {},
	"stats":                    {calls: true},
	"top":                      {args: "--times 1", calls: true},
	"version":                  {},
}

// leaves are all commands that do something, by path, but for those of the library.
func leaves(t *testing.T) map[string]*cobra.Command {
	t.Helper()
	found := map[string]*cobra.Command{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if path := strings.TrimPrefix(sub.CommandPath(), "belfry "); sub.HasSubCommands() {
				walk(sub)
			} else {
				found[path] = sub
			}
		}
	}
	walk(commandTree((&console.App{})))
	for path := range found {
		if _, known := samples[path]; !known {
			t.Errorf("belfry %s has no sample", path)
		}
	}
	for path := range samples {
		if found[path] == nil {
			t.Errorf("there is no command belfry %s", path)
		}
	}
	return found
}

// words are the arguments of a command's sample behind its path.
func (s sample) words(path string, more ...string) []string {
	return slices.Concat(strings.Fields(path), strings.Fields(s.args), more)
}

func TestDestructiveCommandsAsk(t *testing.T) {
	for path, c := range leaves(t) {
		for _, name := range []string{"yes", "dry-run"} {
			if has := c.Flags().Lookup(name) != nil; has != samples[path].destroys {
				t.Errorf("belfry %s: --%s %t, destroys %t", path, name, has, samples[path].destroys)
			}
		}
	}
}

// badValues are, for each kind of flag, values that nobody can mean.
var badValues = map[string][]string{
	"int":         {"x", "1.5", "99999999999999999999", "-1", "010", "0x1", "1_0", "+1", "1e3"},
	"float":       {"x", "0", "-1", "NaN", "Inf", "0x1p-2", "1_0", "1e999"},
	"duration":    {"x", "5", "0", "1d", "99999999h", "-1s", "-99999999h"},
	"durations":   {"x", "5", "1s,", ",1s", "1s,,2s", "1s;2s", "-1s", "99999999h"},
	"time":        {"x", "tomorrow", "2031-01-02", "2031-01-02T15:04:05", "1767225600", "0001-01-01T00:00:00Z"},
	"strings":     {",", "a,", ",a"},
	"bool":        {"x", "2"},
	"string":      {},
	"stringArray": {},
}

// zeroIsRefused are numbers and durations of which none cannot be meant; what zero means elsewhere is in the help.
func zeroIsRefused(path string, f *pflag.Flag) bool {
	fine := map[string]bool{"delay": true, "for": true, "times": true, "jitter": true, "limit": path != "dead-letters discard" && path != "dead-letters redrive" && path != "dead-letters groups"}
	return !fine[f.Name]
}

// What makes no sense is refused before anything is called, by name, with exit code 2 and never raw.
func TestBadCommandLines(t *testing.T) {
	r := newRig(t, "http://127.0.0.1:1")
	refused := func(args []string, says string) {
		t.Helper()
		for _, more := range [][]string{nil, {"--json"}} {
			code := r.run(append(slices.Clone(args), more...)...)
			if code != console.ExitUsage || !strings.Contains(r.errs, says) {
				t.Errorf("belfry %q: %d, want 2 saying %q\n%s%s", args, code, says, r.out, r.errs)
			}
			r.proper(args, code, more != nil)
		}
	}
	for path, c := range leaves(t) {
		s := samples[path]
		refused(s.words(path, "--nonsense"), "unknown flag")
		refused(s.words(path, "--\x1b[2J"), "unknown flag")
		if !strings.Contains(c.Use, "...") && !strings.Contains(c.Use, "…") && !strings.HasSuffix(c.Use, "...]") {
			refused(s.words(path, "one", "two", "\x1b[2J"), "belfry "+path)
		}
		if strings.Contains(c.Use, " ") && !strings.Contains(c.Use, "[") {
			refused(strings.Fields(path), "belfry "+path)
		}
	}
	for _, group := range []string{"jobs", "dead-letters", "types", "schedules", "alerts", "tokens", "profiles", "migrate"} {
		refused(strings.Fields(group), "wants a command")
		refused(append(strings.Fields(group), "\x1b[2J"), "has no command")
	}
}

// proper holds what a command printed against what holds for all: nothing a terminal acts on, and with --json
// documents only.
func (r *rig) proper(args []string, code int, asJSON bool) {
	r.t.Helper()
	if bad := cmdlinetest.Unsafe(strings.ReplaceAll(r.out+r.errs, "\n", "")); bad != "" {
		r.t.Errorf("belfry %.200q prints %s: %q", args, bad, r.out+r.errs)
	}
	if len(r.out)+len(r.errs) > 64<<10 {
		r.t.Errorf("belfry %.200q prints %d bytes", args, len(r.out)+len(r.errs))
	}
	if !asJSON {
		return
	}
	for line := range strings.Lines(r.out + r.errs) {
		if !json.Valid([]byte(line)) {
			r.t.Errorf("belfry %.200q prints a line that is no JSON: %.300q", args, line)
		}
	}
	var doc struct {
		Error string
		Exit  int
	}
	if code != console.ExitOK && r.errs != "" && (json.Unmarshal([]byte(r.errs), &doc) != nil || doc.Exit != code || doc.Error == "") {
		r.t.Errorf("belfry %.200q ends with %d and says %s", args, code, r.errs)
	}
}

// Hostile values of texts reach the server, which judges them, or are refused here; no answer is an accident.
func TestHostileValues(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	r.submit("later", "--delay", "1h")
	texts := []string{"\x1b[2J\x1b]0;owned\x07", strings.Repeat("x", 5000), "\xff\xfe", "../../etc", "%2e%2e%2f?x=1#y", "🎉 \u202e\"'<>&", " ", "\t\n", "-1", "{}", "null"}
	fine := []int{console.ExitOK, console.ExitFailed, console.ExitUsage, console.ExitNotFound, console.ExitConflict, console.ExitTimeOver}
	tried := 0
	try := func(args ...string) {
		t.Helper()
		for _, more := range [][]string{nil, {"--json"}} {
			tried++
			code := r.run(append(slices.Clone(more), args...)...)
			if finds := args[0] == "doctor" || slices.Contains(args, "crontab"); !slices.Contains(fine, code) || code == console.ExitFailed && !finds {
				t.Errorf("belfry %.200q: %d\n%.500s%.500s", args, code, r.out, r.errs)
			}
			r.proper(args, code, more != nil)
		}
	}
	for path, c := range leaves(t) {
		s := samples[path]
		if path == "tokens create" || strings.HasPrefix(path, "migrate") { // a first token would shut the rest out
			continue
		}
		for _, text := range texts {
			c.Flags().VisitAll(func(f *pflag.Flag) {
				switch kind := f.Value.Type(); {
				case f.Name == "file", f.Name == "out", f.Name == "database-url": // files and databases are not the server's
				case kind == "string", kind == "stringSlice", kind == "stringArray":
					try(s.words(path, "--"+f.Name+"="+text)...)
				}
			})
			if strings.Contains(c.Use, " ") {
				try(append(strings.Fields(path), slices.Concat([]string{"--", text}, nil)...)...)
			}
		}
	}
	if tried < 500 {
		t.Errorf("%d command lines", tried)
	}
}

// Every flag of every command, whoever adds it, is meant where it is given: what is empty, not UTF-8, of another kind or out
// of bounds is refused by the flag's name before anything is read or called.
func TestNoFlagIsMeantAsNothing(t *testing.T) {
	r := newRig(t, "http://127.0.0.1:1")
	flags, tried := 0, 0
	for path, c := range leaves(t) {
		each := func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			flags++
			values, known := badValues[f.Value.Type()]
			of, ours := f.Value.(*console.Value)
			if !known || !ours && f.Value.Type() != "bool" {
				t.Errorf("belfry %s --%s is of no kind of flags.go: %T", path, f.Name, f.Value)
				return
			}
			values = append([]string{""}, values...)
			if ours && !of.Raw {
				values = append(values, "k\xe9", "\xff\xfe")
			}
			if kind := f.Value.Type(); (kind == "int" || kind == "duration") && zeroIsRefused(path, f) {
				values = append(values, map[string]string{"int": "0", "duration": "0s"}[kind])
			}
			for _, text := range values {
				for _, more := range [][]string{nil, {"--json"}} {
					tried++
					args := samples[path].words(path, append([]string{"--" + f.Name + "=" + text}, more...)...)
					code := r.run(args...)
					if code != console.ExitUsage || !strings.Contains(r.errs, "--"+f.Name+" ") || goIsms.MatchString(r.out+r.errs) {
						t.Errorf("belfry %q: %d, want 2 naming --%s\n%s%s", args, code, f.Name, r.out, r.errs)
					}
					r.proper(args, code, more != nil)
				}
			}
		}
		c.Flags().VisitAll(each)
		c.InheritedFlags().VisitAll(each)
	}
	t.Logf("%d flags, %d command lines", flags, tried)
}

// goIsms are what only readers of Go's library know.
var goIsms = regexp.MustCompile(`strconv\.|time: |parsing "|ParseInt|netip\.|url\.|json: |invalid syntax|value out of range|missing unit|unknown unit|invalid argument|%!|main\.|console\.|core\.|0x[0-9a-f]{8}|net/http|dial tcp|context deadline`)

// So are arguments, and the variables of the environment.
func TestNoArgumentOrVariableIsMeantAsNothing(t *testing.T) {
	r := newRig(t, "http://127.0.0.1:1")
	arguments, variables := 0, 0
	refused := func(says string, args ...string) {
		t.Helper()
		if code := r.run(args...); code != console.ExitUsage || !strings.Contains(r.errs, says) || strings.Contains(r.errs, "canary") {
			t.Errorf("belfry %q with %q: %d, want 2 saying %q\n%s%s", args, r.env, code, says, r.out, r.errs)
		}
	}
	for path, c := range leaves(t) {
		s := samples[path]
		if strings.Contains(c.Use, " ") {
			for _, text := range []string{"", "k\xe9"} {
				arguments++
				refused("argument", append(strings.Fields(path), text)...)
			}
		}
		names := []string{"BELFRY_URL", "BELFRY_TOKEN", "BELFRY_PROFILE"}
		if path == "doctor" || strings.HasPrefix(path, "migrate") {
			names = []string{"BELFRY_DATABASE_URL"}
		} else if !s.calls {
			continue
		}
		for _, name := range names {
			for _, text := range []string{"", " ", `"canary"`, "'canary'", "canary\r", "canary\xe9"} {
				variables++
				kept := r.env
				r.env = map[string]string{name: text}
				refused(name+": ", strings.Fields(strings.Split(path+" "+s.args, "--database-url")[0])...)
				r.env = kept
			}
		}
	}
	t.Logf("%d arguments, %d variables", arguments, variables)
}

var helpFile = filepath.Join("testdata", "help.txt")

// The help of every command, as it was read and agreed on (go test ./cmd/belfry -run Help -update writes it anew).
func TestHelp(t *testing.T) {
	r := newRig(t, "http://127.0.0.1:1")
	var all strings.Builder
	paths := []string{"", "jobs", "dead-letters", "types", "tokens", "profiles", "migrate"}
	for path := range leaves(t) {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		fmt.Fprintf(&all, "$ belfry %s\n%s\n", strings.TrimSpace(path+" --help"), r.ok(append(strings.Fields(path), "--help")...))
	}
	if *update {
		if err := os.WriteFile(helpFile, []byte(all.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden, err := os.ReadFile(helpFile)
	if err != nil {
		t.Fatal(err)
	}
	want, got := strings.Split(string(golden), "\n"), strings.Split(all.String(), "\n")
	for i := range max(len(want), len(got)) {
		if at(want, i) != at(got, i) {
			t.Fatalf("%s differs at line %d\nwant %q\ngot  %q", helpFile, i+1, at(want, i), at(got, i))
		}
	}
}
