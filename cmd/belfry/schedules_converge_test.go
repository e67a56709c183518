package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// odd are values of fields that can be written in several ways, or are shown in another way than they are kept.
var odd = map[string]string{
	"cron": `"30  2 * * *"`, "every": "90m", "time_zone": "Europe/Berlin", "dst_gap": "shift", "dst_overlap": "both",
	"starts_at": `"2030-01-01T09:00:00.1234567+02:00"`, "ends_at": `"2050-06-01T09:00:00-05:30"`, "type": "report.nightly", "payload": `{b: 1.50, a: ["x", null, 12345678901234567890123]}`,
	"priority": "bulk", "tenant": "acme", "missed": "all", "missed_window": "90m", "missed_limit": "7", "missed_grace": "61s", "overlap": "queue_one", "jitter": "1500ms",
	"expect_within": "1.5h", "expect_paused": "true", "paused": "true", "max_attempts": "3", "timeout": "0.5h", "backoff": "[1s, 0.5m]", "expires_after": "100m",
	"target": `{url: "http://127.0.0.1:9/hook?a=1&b=<2>", headers: {authorization: "Bearer canary", X-Key: "canary 2"}}`, "tags": `["b", "a", "ü"]`,
}

// A plan that is applied is unchanged, whatever its fields are and however they are written: each field of the API's document
// alone, and all together. A change of a header is told by its name, and no value is shown.
func TestAnAppliedPlanIsUnchanged(t *testing.T) {
	t.Setenv("BELFRY_WEBHOOK_SECRETS", webhookSecret)
	t.Setenv("BELFRY_WEBHOOK_ALLOW", "127.0.0.1")
	address := nodetest.Start(t, "api")
	r := newRig(t, address)
	write := func(fields map[string]string) {
		var text strings.Builder
		text.WriteString("schedules:\n  - name: s\n")
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			text.WriteString("    " + name + ": " + fields[name] + "\n")
		}
		r.in = text.String()
	}
	names := fieldsOfSchedules(t, address)
	check := func(what string, fields map[string]string) {
		t.Helper()
		write(fields)
		r.ok("schedules", "apply", "-", "--yes")
		if code := r.run("schedules", "apply", "-", "--check"); code != console.ExitOK || !strings.Contains(r.out, "= s") {
			t.Errorf("%s: %d %s%s", what, code, r.out, r.errs)
		}
	}
	all := map[string]string{}
	for _, name := range names {
		value, ok := odd[name]
		if !ok {
			t.Errorf("the walk does not know what to put under %q: tell it here", name)
		}
		fields := map[string]string{"type": "a", "cron": `"@daily"`, "expect_within": "2h"}
		if fields[name] = value; name == "every" {
			delete(fields, "cron")
		} else {
			all[name] = value
		}
		for _, form := range append(otherForms(value), value) { // the plain one is no change then
			fields[name] = form
			check(name+" "+form, fields)
		}
	}
	check("all", all)
	if len(names) < 26 {
		t.Errorf("%d fields", len(names))
	}
	t.Logf("%d fields, and all at once", len(names))

	for value, says := range map[string]string{
		strings.Replace(odd["target"], "canary 2", "canary 3", 1): "changes target.headers.X-Key —", strings.Replace(odd["target"], "Bearer canary", "Bearer new", 1): "changes target.headers.authorization —",
		strings.Replace(odd["target"], "a=1", "a=2", 1): "changes target.url —", strings.Replace(odd["target"], "X-Key", "X-Other", 1): "changes target.headers.X-Key, target.headers.X-Other —",
	} {
		all["target"] = value
		write(all)
		if code := r.run("schedules", "apply", "-", "--check"); code != console.ExitFailed || !strings.Contains(r.out, says) || strings.Contains(r.out+r.errs, "canary") {
			t.Errorf("%s: %d %s%s", value, code, r.out, r.errs)
		}
	}
}

// Whatever would refuse a change is found before anything is changed, also what the server alone knows, and all of it at once.
func TestApplyChecksAllBeforeItChangesAnything(t *testing.T) {
	address := nodetest.Start(t, "api") // without webhook secrets
	r := newRig(t, address)
	r.in = `schedules:
  - {name: a, cron: "@daily", type: a}
  - {name: b, cron: "@daily", type: a, target: {url: "https://hooks.example.com"}}
  - {name: c, cron: "@daily", type: a, missed_grace: 1s}
  - {name: d, cron: "0 0 30 2 *", time_zone: Mars, type: a}
  - {cron: "61 * * * *", type: a}
  - {name: preview, cron: "62 * * * *", type: a}
  - {name: e, cron: "@daily", type: a, overlap: sometimes, payload: {zip: 01234}}
`
	for _, flag := range []string{"--check", "--yes", "--dry-run"} {
		code := r.run("schedules", "apply", "-", flag)
		for _, says := range []string{
			"line 3: b: target: cannot be used: this server has no webhook secrets", "line 4: c: missed_grace: must lie between 7s", "line 5: d: cron: ", "line 5: d: time_zone: ", "line 6: name: is required", "line 6: cron: ",
			`line 7: preview: name: must not be "preview"`, "line 7: preview: cron: ", "line 8: e: overlap: must be", "line 8: e: payload.zip: ",
		} {
			if code != console.ExitUsage || !strings.Contains(r.errs, says) {
				t.Errorf("%s: %d %s\nwant %q", flag, code, r.errs, says)
			}
		}
	}
	if out := r.ok("schedules", "list"); out != "there are no schedules\n" {
		t.Error(out)
	}
	r.in = "schedules:\n  - {name: a, cron: '@daily', type: a}\n  - {name: a, cron: '@daily', type: b}\n"
	if code := r.run("schedules", "apply", "-", "--yes"); code != console.ExitUsage || !strings.Contains(r.errs, "line 3: a: name: is given twice") {
		t.Errorf("%d %s", code, r.errs)
	}
}

// otherForms are other ways in which the API takes a number or a time.
func otherForms(value string) []string {
	switch _, err := strconv.Atoi(value); {
	case err == nil:
		return []string{value + ".0", value + "e0", value + "0E-1"}
	case strings.HasPrefix(value, `"20`):
		return []string{strings.ToLower(value)}
	}
	return nil
}
