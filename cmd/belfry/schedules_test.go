package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

func TestSchedulesFromTheCommandLine(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	const name = "nightly / 100%"
	put := []string{"schedules", "put", name, "--cron", "30 2 * * *", "--time-zone", "Europe/Berlin", "--type", "report", "--payload", `{"a":1}`, "--expect-within", "1h"}
	for range 2 {
		if out := r.ok(put...); !strings.Contains(out, "At 02:30 every day, Europe/Berlin; next due ") {
			t.Error(out)
		}
	}
	if out := r.ok("schedules", "get", name); !strings.Contains(out, "version       1\n") || !strings.Contains(out, "state         on\n") {
		t.Error(out)
	}
	if out := r.ok("schedules", "list"); !strings.Contains(out, name) {
		t.Error(out)
	}
	if out := r.ok("schedules", "pause", name) + r.ok("schedules", "list") + r.ok("schedules", "resume", name); !strings.Contains(out, "is paused") || !strings.Contains(out, "is resumed") {
		t.Error(out)
	}
	if out := r.ok("schedules", "trigger", name, "--json"); !strings.Contains(out, `"schedule":"nightly / 100%"`) {
		t.Error(out)
	}
	if out := r.ok("jobs", "list", "--schedule", name, "--json") + r.ok("jobs", "list", "--schedule", "another", "--json"); strings.Count(out, "\n") != 1 || !strings.Contains(out, `"schedule":"nightly / 100%"`) {
		t.Error(out)
	}
	if out := r.ok("schedules", "next", name, "--count", "2"); strings.Count(out, "\n") != 3 || !strings.Contains(out, "T02:30:00+0") {
		t.Error(out)
	}
	if out := r.ok("schedules", "preview", "--cron", "30 2 * * *", "--time-zone", "Europe/Berlin", "--from", "2026-03-28T12:00:00Z", "--count", "1"); !strings.Contains(out, "2026-03-29T03:00:00+02:00 (clock change: gap)") {
		t.Error(out)
	}
	backfill := []string{"schedules", "backfill", name, "--from", "2026-02-01T00:00:00Z", "--to", "2026-02-04T00:00:00Z"}
	if out := r.ok(append(backfill, "--dry-run")...); out != "3 runs of nightly / 100% would be made\n" {
		t.Error(out)
	}
	if out := r.ok(append(backfill, "--yes")...); out != "3 runs of nightly / 100% made\n" {
		t.Error(out)
	}
	if out := r.ok("schedules", "occurrences", name) + r.ok("alerts", "list"); out != "nothing is in the ledger\nthere are no alerts\n" {
		t.Error(out)
	}
	if code := r.run("schedules", "delete", name); code != console.ExitUsage || !strings.Contains(r.errs, "--yes does it") {
		t.Error(code, r.errs)
	}
	r.ok("schedules", "delete", name, "--yes")
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"schedules get nothing", console.ExitNotFound, "there is no schedule"},
		{"schedules put a --cron 0_0_30_2_* --type a", console.ExitUsage, "cron"},
		{"schedules put a --cron @daily", console.ExitUsage, "type: must be"},
		{"schedules put a --type a", console.ExitUsage, "cron: is required, or every"},
		{"schedules preview --cron @daily --from tomorrow", console.ExitUsage, "--from must be an RFC 3339 time"},
		{"schedules backfill a", console.ExitUsage, "wants --from and --to"},
		{"schedules apply /nowhere", console.ExitUsage, "/nowhere"},
		{"schedules import crontab testdata/crontab", console.ExitUsage, "wants --type"},
	} {
		if code := r.run(strings.Fields(c.args)...); code != c.code || !strings.Contains(r.errs, c.says) {
			t.Errorf("belfry %s: %d %s", c.args, code, r.errs)
		}
	}
}

// The plan shows fire times: what is new, moves, vanishes, and what does not change; --check tells by its exit code.
func TestApply(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	file := filepath.Join(t.TempDir(), "schedules.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("testdata/schedules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write(string(text))
	if code := r.run("schedules", "apply", file, "--check"); code != console.ExitFailed || !strings.Contains(r.out, "+ nightly: is new — At 02:30 every day, Asia/Tokyo") || strings.Count(r.out, "appears") != 17 || !strings.Contains(r.out, "… and 990 more") {
		t.Fatalf("%d %s", code, r.out)
	}
	if out := r.ok("schedules", "list"); out != "there are no schedules\n" {
		t.Errorf("--check made some: %s", out)
	}
	if code := r.run("schedules", "apply", file); code != console.ExitUsage || !strings.Contains(r.errs, "2 to make") {
		t.Errorf("%d %s", code, r.errs)
	}
	r.ok("schedules", "apply", file, "--yes")
	if out := r.ok("schedules", "apply", file, "--check"); !strings.Contains(out, "= nightly: unchanged\n") || !strings.Contains(out, "= heartbeat: unchanged\n") || !strings.Contains(out, "2 unchanged") {
		t.Errorf("applied again: %s", out)
	}
	moved := strings.Replace(string(text), "30 2 * * *", "45 3 * * *", 1)
	write(moved)
	if code := r.run("schedules", "apply", file, "--check", "--days", "3"); code != console.ExitFailed || strings.Count(r.out, "T02:30:00+0") != 3 || strings.Count(r.out, " moves to ") != 3 || !strings.Contains(r.out, "~ nightly: changes cron") {
		t.Errorf("%d %s", code, r.out)
	}
	write(strings.Replace(string(text), "full: true", "full: false", 1))
	if code := r.run("schedules", "apply", file, "--check"); code != console.ExitFailed || !strings.Contains(r.out, "changes payload") || !strings.Contains(r.out, "no run of the next 7 days changes") {
		t.Errorf("%d %s", code, r.out)
	}
	write(strings.Replace(string(text), "type: echo", "type: echo\n    paused: true", 1))
	if code := r.run("schedules", "apply", file, "--check"); code != console.ExitFailed || !strings.Contains(r.out, "vanishes") || strings.Contains(r.out, "appears") {
		t.Errorf("%d %s", code, r.out)
	}
	write("schedules:\n  - {name: nightly, cron: 30 2 * * *, time_zone: Asia/Tokyo, type: report.nightly, payload: {full: true}, missed: once, expect_within: 1h}\n")
	if out := r.ok("schedules", "apply", file, "--yes"); !strings.Contains(out, "heartbeat: not in the file; stays") {
		t.Errorf("%s", out)
	}
	if code := r.run("schedules", "apply", file, "--check", "--delete", "--json"); code != console.ExitFailed || !strings.Contains(r.out, `"action":"delete"`) {
		t.Errorf("%d %s", code, r.out)
	}
	r.ok("schedules", "apply", file, "--delete", "--yes")
	if out := r.ok("schedules", "list", "--json"); strings.Count(out, "\n") != 1 {
		t.Errorf("%s", out)
	}
	for bad, says := range map[string]string{
		"schedules:\n  - {name: a, cron: '@daily', type: a, colour: 1}": "colour", "schedules:\n  - {cron: '@daily', type: a}": "line 2: name: is required", "jobs: []": "line 1: jobs: is not a field",
		"schedules:\n  - {name: a, cron: '@daily', type: a}\n  - {name: a, cron: '@daily', type: a}": "line 3: a: name: is given twice", "schedules:\n  - {name: a, every: soon, type: a}": "every",
		"schedules:\n  - {name: a, cron: '0 0 30 2 *', type: a}": "a: cron", "a: &a [x]\nb: [*a,*a]": "line 2: b: is not a field", "---\nschedules: []\n---\n{}": "line 3: begins a second document", "# \x00": "line 1: holds a control character",
		"schedules:\n  - {name: a, cron: '@daily', type: a, 1: x}": "1",
	} {
		write(bad)
		if code := r.run("schedules", "apply", file, "--yes"); code != console.ExitUsage || !strings.Contains(r.errs, says) {
			t.Errorf("%q: %d %s", bad, code, r.errs)
		}
	}
}

// Line by line: what is a schedule, and what could not be taken and why; what comes out can be applied.
func TestImportCrontab(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	file := filepath.Join(t.TempDir(), "out.yaml")
	if code := r.run("schedules", "import", "crontab", "testdata/crontab", "--type", "shell", "--out", file); code != console.ExitFailed {
		t.Fatalf("%d %s", code, r.errs)
	}
	for _, says := range []string{"line 2 is left out: the variable SHELL", "line 3 is left out: the variable MAILTO", "line 9 was not taken: @reboot", "line 10 was not taken: cron: ", "line 11 was not taken: cron: ", "line 12 was not taken: no command", "4 lines taken, 4 not; 2 variables left out"} {
		if !strings.Contains(r.errs, says) {
			t.Errorf("no %q in\n%s", says, r.errs)
		}
	}
	r.ok("schedules", "apply", file, "--yes")
	var rows []string
	for line := range strings.Lines(r.ok("schedules", "list", "--json")) {
		var s struct {
			Name, Cron string
			TimeZone   string `json:"time_zone"`
			Payload    struct{ Command, Stdin, User string }
		}
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, strings.Join([]string{s.Name, s.Cron, s.TimeZone, s.Payload.Command, s.Payload.Stdin}, "|"))
	}
	want := []string{
		"backup.sh|30 2 * * *||/opt/backup/backup.sh full >/dev/null 2>&1|", "backup.sh-2|@daily|Europe/Berlin|/opt/backup/backup.sh prune|",
		"mail|0 6 * * mon-fri|Europe/Berlin|mail -s \"100% done\" ops|first line\nsecond line\n", "probe|*/5 * * * *||/usr/local/bin/probe --quiet|",
	}
	if strings.Join(rows, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	r.in = "17 * * * * root cd / && run-parts /etc/cron.hourly\n"
	if out := r.ok("schedules", "import", "crontab", "-", "--type", "shell", "--system", "--out", "-"); !strings.Contains(out, "user: root") || !strings.Contains(out, "command: cd / && run-parts") || !strings.Contains(out, "name: cd") {
		t.Error(out)
	}
}

// Applied at once: the plan comes first and needs a yes, then the schedules are there; a second time nothing changes, and
// one that somebody changed meanwhile is kept.
func TestImportCrontabAtOnce(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	file := []string{"schedules", "import", "crontab", "testdata/crontab", "--type", "shell"}
	if code := r.run(file...); code != console.ExitUsage || !strings.Contains(r.errs, "4 to make") || !strings.Contains(r.errs, "--yes does it") {
		t.Errorf("%d %s%s", code, r.out, r.errs)
	}
	if code := r.run(append(file, "--dry-run")...); code != console.ExitFailed || !strings.Contains(r.out, "+ backup.sh: is new — At 02:30 every day") || !strings.Contains(r.out, " appears") || !strings.Contains(r.errs, "line 9 was not taken: @reboot") {
		t.Errorf("%d %s%s", code, r.out, r.errs)
	}
	if out := r.ok("schedules", "list"); out != "there are no schedules\n" {
		t.Error(out)
	}
	if code := r.run(append(file, "--yes")...); code != console.ExitFailed || !strings.Contains(r.out, "done\n") || !strings.Contains(r.errs, "4 lines taken, 4 not; 2 variables left out") {
		t.Errorf("%d %s%s", code, r.out, r.errs)
	}
	r.ok("schedules", "put", "probe", "--cron", "@hourly", "--type", "shell", "--payload", `{"command":"/usr/local/bin/probe --quiet"}`)
	if code := r.run(append(file, "--yes")...); code != console.ExitFailed || !strings.Contains(r.out, "0 to make, 0 to change, 0 to delete, 3 unchanged") ||
		!strings.Contains(r.errs, "line 4 was not taken: there is a schedule probe already, with another cron: it stays as it is") {
		t.Errorf("%d %s%s", code, r.out, r.errs)
	}
	if out := r.ok("schedules", "get", "probe", "--json"); !strings.Contains(out, `"cron":"@hourly"`) {
		t.Error(out)
	}
	if code := r.run(append(file, "--dry-run", "--json")...); code != console.ExitFailed || strings.Count(r.out, `"action":"not_taken"`) != 5 || strings.Count(r.out, `"action":"variable"`) != 2 || strings.Count(r.out, `"action":"unchanged"`) != 3 {
		t.Errorf("%d %s%s", code, r.out, r.errs)
	}
	r.in = "@daily /bin/one\n"
	if out := r.ok("schedules", "import", "crontab", "-", "--type", "shell", "--yes"); !strings.Contains(out, "1 to make") {
		t.Error(out)
	}
}
