package main

import (
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// Variables are counted apart from lines that were not taken, notes change no code, and expressions of Quartz are noted.
func TestImportCrontabCounts(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	r.in = "SHELL=/bin/sh\nTZ=Asia/Tokyo\nMAILTO=\n0 6 ? * 2-6 /bin/a\n0 7 * * 2#1 /bin/b\n-0 8 * * * -n /bin/c\n"
	for _, out := range [][]string{{"--out", "-"}, {"--yes"}} {
		code := r.run(append([]string{"schedules", "import", "crontab", "-", "--type", "shell"}, out...)...)
		for _, says := range []string{
			"line 1 is left out: the variable SHELL", "line 2 is left out: the variable TZ: it is the zone of the commands", "line 4: note: day of week: 2-6 counts from 0", "line 5: note: day of week: 2#1 counts from 0",
			"line 6: note: the - before its times", "line 6: note: the options -n", "3 lines taken, 0 not; 3 variables left out\n",
		} {
			if code != console.ExitOK || !strings.Contains(r.errs, says) {
				t.Errorf("%d %s%s\nwant %q", code, r.out, r.errs, says)
			}
		}
	}
	if out := r.ok("schedules", "get", "a"); strings.Contains(out, "Tokyo") {
		t.Error(out)
	}
	r.in = "CRON_TZ=\n0 1 * * * /bin/a\nCRON_TZ=UTC\n0 2 * * * /bin/d\n"
	if code := r.run("schedules", "import", "crontab", "-", "--type", "shell", "--yes"); code != console.ExitFailed || !strings.Contains(r.errs, "line 1 was not taken: CRON_TZ is empty") || !strings.Contains(r.errs, "1 line taken, 2 not\n") {
		t.Errorf("%d %s%s", code, r.out, r.errs)
	}
	for _, text := range []string{"\xff\xfe0\x00 \x00", "0\x00 \x001\x00"} {
		r.in = text
		if code := r.run("schedules", "import", "crontab", "-", "--type", "shell", "--yes"); code != console.ExitUsage || !strings.Contains(r.errs, "UTF-16") {
			t.Errorf("%q: %d %s", text, code, r.errs)
		}
	}
}
