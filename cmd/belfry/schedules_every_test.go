package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/internal/nodetest"
)

// The plan of a schedule with every shows the runs that will come: none at the moment from which the interval is counted,
// and of an interval that goes on those of where it began.
func TestPlanOfAnIntervalIsKept(t *testing.T) {
	r := newRig(t, nodetest.Start(t, "api"))
	file := filepath.Join(t.TempDir(), "schedules.yaml")
	write := func(fields string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("schedules:\n  - {name: a, type: echo, "+fields+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	type plan struct{ Appear, Vanish, Move []client.PreviewItem }
	planOf := func() (p plan) {
		t.Helper()
		r.run("schedules", "apply", file, "--check", "--json", "--days", "10")
		if err := json.Unmarshal([]byte(r.out), &p); err != nil {
			t.Fatalf("%v: %s%s", err, r.out, r.errs)
		}
		return p
	}
	next := func() []client.PreviewItem {
		t.Helper()
		var p client.Preview
		if err := json.Unmarshal([]byte(r.ok("schedules", "next", "a", "--count", "10", "--json")), &p); err != nil {
			t.Fatal(err)
		}
		return p.Items
	}
	same := func(what string, got, want []client.PreviewItem) {
		t.Helper()
		if len(got) == 0 || len(got) != len(want) {
			t.Fatalf("%s: %v, not %v", what, got, want)
		}
		for i := range got {
			if !got[i].At.Equal(want[i].At) {
				t.Errorf("%s: %v, not %v", what, got[i].At, want[i].At)
			}
		}
	}
	// counted wants times to be so far apart, the first one so far from a moment of this test.
	counted := func(what string, times []client.PreviewItem, every time.Duration, begun time.Time) {
		t.Helper()
		if len(times) == 0 || times[0].At.Before(begun.Add(every).Truncate(time.Microsecond)) || times[0].At.After(time.Now().Add(every)) {
			t.Fatalf("%s, begun at %s: %v", what, begun, times)
		}
		for i, item := range times {
			if !item.At.Equal(times[0].At.Add(time.Duration(i) * every)) {
				t.Errorf("%s: %v", what, times)
			}
		}
	}

	begun := time.Now()
	write("every: 24h")
	counted("a new one", planOf().Appear, 24*time.Hour, begun)
	r.ok("schedules", "apply", file, "--yes")

	begun = time.Now()
	write("every: 48h")
	p := planOf()
	counted("another interval", p.Appear, 48*time.Hour, begun)
	if len(p.Vanish) == 0 {
		t.Error("no run of the old interval vanishes")
	}

	kept := next()
	write("every: 24h, ends_at: " + `"` + kept[4].At.UTC().Format(time.RFC3339Nano) + `"`)
	p = planOf()
	same("runs from ends_at on vanish", p.Vanish, kept[4:])
	if len(p.Appear)+len(p.Move) > 0 {
		t.Errorf("with ends_at %v appear, %v move", p.Appear, p.Move)
	}
	write("every: 24h, ends_at: " + `"` + kept[0].At.Add(-time.Hour).UTC().Format(time.RFC3339Nano) + `"`)
	same("it ends before its next run", planOf().Vanish, kept)

	write("every: 24h, paused: true")
	same("a pause", planOf().Vanish, kept)
	r.ok("schedules", "apply", file, "--yes")
	write("every: 24h")
	same("no pause", planOf().Appear, kept)
	r.ok("schedules", "apply", file, "--yes")
	same("after the pause", next(), kept)
}
