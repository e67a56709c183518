package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// A fault of any field is found before anything is made, with --check too, in words for those who write YAML; and a
// file that came out empty deletes nothing.
func TestApplyFindsFaultsFirst(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	file := filepath.Join(t.TempDir(), "schedules.yaml")
	const good = "schedules:\n  - {name: good, cron: '@daily', type: a}\n"
	for _, row := range []struct{ text, says string }{
		{good + "  - {name: bad, cron: '@daily', type: a, overlap: sometimes}", "bad: overlap: must be allow, skip, queue_one or cancel_running"},
		{good + "  - {name: bad, cron: '@daily', type: a, jitter: 9999h}", "bad: jitter: must lie between"},
		{good + "  - {name: bad, cron: '@daily', type: a b}", "bad: type: "},
		{good + `  - {name: bad, cron: '@daily', type: a, payload: {a: "\0"}}`, "bad: payload: holds"},
		{good + "  - {name: bad, cron: '@daily', type: a, tags: ['']}", "bad: tags[0]: "},
		{good + "  - {name: preview, cron: '@daily', type: a}", `preview: name: must not be "preview"`},
		{good + "  - {name: 2026, cron: '@daily', type: a}", "line 3: name: must be text: write it in quotes"},
		{good + "  - {name: bad, cron: 5, type: a}", "line 3: bad: cron: must be a string, not a number: write it in quotes"},
		{good + "  - {name: bad, cron: '@daily', type: a, missed_limit: x}", "missed_limit: must be a whole number"},
		{good + "  - {name: good, every: 90s, type: a, jitter: 5}", "line 3: good: name: is given twice\n  line 3: good: jitter: must"},
		{good + "  - {name: good, tenant: a, every: 90s, type: a}\n  - {name: good, tenant: a, every: 90s, type: a b}", "line 4: good: name: is given twice\n  line 4: good: type: must"},
		{"schedules:\n  - {name: b, every: 5, type: a}", "belfry: line 2: b: every: must be a duration with its units, such as \"90s\" or \"1h30m\", not a number\n"},
		{"schedules:\n  - {cron: '@daily', type: a}\n  - {cron: '@daily', type: a}", "line 2: name: is required\n  line 3: name: is required"},
	} {
		if err := os.WriteFile(file, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, flag := range []string{"--check", "--yes"} {
			if code := r.run("schedules", "apply", file, flag); code != console.ExitUsage || !strings.Contains(r.errs, row.says) {
				t.Errorf("%s %q: %d %s%s", flag, row.text, code, r.out, r.errs)
			}
		}
	}
	if out := r.ok("schedules", "list"); out != "there are no schedules\n" {
		t.Errorf("some were made before the fault: %s", out)
	}
	r.ok("schedules", "put", "kept", "--cron", "@daily", "--type", "a")
	for empty, says := range map[string]string{
		"": "names no schedules", "# schedules\n": "names no schedules", "---\n": "names no schedules", "{}": "names no schedules", "null": "names no schedules", "~\n": "names no schedules",
		"schedules:\n": "line 1: schedules: has no value: write []", "schedules: ~\n": "has no value", "{schedules: null}": "has no value", "schedules: ''\n": "schedules: must be a list",
	} {
		for _, flags := range [][]string{{"--delete", "--yes"}, {"--check"}, {"--yes"}, {"--dry-run"}} {
			r.in = empty
			if code := r.run(append([]string{"schedules", "apply", "-"}, flags...)...); code != console.ExitUsage || !strings.Contains(r.errs, says) {
				t.Errorf("%q %q: %d %s%s", empty, flags, code, r.out, r.errs)
			}
		}
	}
	r.ok("schedules", "get", "kept")
	r.in = "schedules: []\n"
	if out := r.ok("schedules", "apply", "-", "--delete", "--yes"); !strings.Contains(out, "1 to delete") {
		t.Error(out)
	}
}

// Lines that cannot be jobs are left out by themselves, and do not stop the others; so do names that paths cannot carry.
func TestImportOddCrontab(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	r.in = "\ufeff# written on another system\r\n0 0 * * 7 /usr/bin/preview\r\n0 1 * * * /bin/a\x00b\r\n0 2 * * * /bin/\xff\xfe\r\n" +
		"0 3 * * * cat%\xff\r\n0 4 * * * /bin/" + strings.Repeat("x", 128<<10) + "\r\n0 5 * * *\t/bin/tab\t-l\r\n61 * * * * /bin/late\r\n61 * * * * /bin/later\r\n0 6 * * * /bin/last"
	if code := r.run("schedules", "import", "crontab", "-", "--type", "shell", "--yes"); code != console.ExitFailed || !strings.Contains(r.out, "3 to make") {
		t.Errorf("%d %s%s", code, r.out, r.errs)
	}
	for _, says := range []string{
		"line 3 was not taken: the command holds bytes that are no text", "line 4 was not taken: the command holds bytes", "line 5 was not taken: the command holds bytes",
		"line 6 was not taken: the command is longer than 131072 bytes", "line 8 was not taken: cron: minute", "line 9 was not taken: cron: minute", "3 lines taken, 6 not",
	} {
		if !strings.Contains(r.errs, says) {
			t.Errorf("no %q in\n%s", says, r.errs)
		}
	}
	for _, name := range []string{"preview-2", "tab", "last"} {
		r.ok("schedules", "get", name)
	}
}

// Of many schedules it is shown how far the comparison and the changes are; the plan stays as it is.
func TestApplyShowsProgress(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	var many strings.Builder
	many.WriteString("schedules:\n")
	for i := range 4 {
		fmt.Fprintf(&many, "  - {name: s%d, cron: '@daily', type: a}\n", i)
	}
	r.in = many.String()
	start, looks := time.Now(), 0
	r.now = func() time.Time { looks++; return start.Add(time.Duration(looks) * 3 * time.Second) }
	if out := r.ok("schedules", "apply", "-", "--yes"); !strings.Contains(out, "4 to make") {
		t.Error(out)
	}
	for _, says := range []string{"2 schedules compared (50%)", "4 schedules compared (100%)", "2 changes made (50%)", "4 changes made (100%)"} {
		if !strings.Contains(r.errs, says) {
			t.Errorf("no %q in %q", says, r.errs)
		}
	}
	r.in = "0 0 * * * /bin/a\n0 1 * * * /bin/b\n"
	if r.ok("schedules", "import", "crontab", "-", "--type", "shell", "--dry-run"); !strings.Contains(r.errs, "1 lines compared (50%)") {
		t.Errorf("%q", r.errs)
	}
}

// A backfill that is broken off says how far it came; meanwhile it shows how far it is.
func TestBackfillBrokenOff(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	r.ok("schedules", "put", "busy", "--cron", "* * * * * *", "--type", "a", "--paused")
	backfill := []string{"schedules", "backfill", "busy", "--from", "2026-02-01T00:00:00Z", "--to", "2026-02-01T03:00:00Z", "--yes"}
	through, calls := r.trip, 0
	r.trip = tripper(func(q *http.Request) (*http.Response, error) {
		if calls++; calls == 3 { // the count, 10,000 runs, and the rest
			return nil, errors.New("the line is cut")
		}
		return through.RoundTrip(q)
	})
	if code := r.run(backfill...); code == console.ExitOK || !strings.Contains(r.errs, "after 10000 runs, of instants before 2026-02-01T02:46:40Z: ") {
		t.Errorf("%d %s", code, r.errs)
	}
	start, looks := time.Now(), 0
	r.now = func() time.Time { looks++; return start.Add(time.Duration(looks) * 3 * time.Second) }
	r.trip, backfill[4] = through, "2026-02-01T02:46:40Z"
	if out := r.ok(backfill...); out != "800 runs of busy made\n" || !strings.Contains(r.errs, "800 runs made (100%)") {
		t.Errorf("%q %q", out, r.errs)
	}
}
