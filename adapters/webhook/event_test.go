package webhook

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Each change at a host is reported once, not once per job.
func TestHostEventsAreToldOncePerChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newAdmission(4)
		var told []HostEventKind
		g.onEvent = func(e HostEvent) {
			if e.Host != "a:80" {
				t.Errorf("told of %q", e.Host)
			}
			told = append(told, e.Kind)
		}
		expect := func(when string, want ...HostEventKind) {
			t.Helper()
			if !slices.Equal(told, want) {
				t.Errorf("%s: told %q, want %q", when, told, want)
			}
			told = nil
		}
		fill := func() (all []*pass) {
			for range 4 {
				p, err := g.enter(t.Context(), to("a:80"))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, p)
			}
			return all
		}

		passes := fill()
		for range 3 {
			_, err := g.enter(t.Context(), to("a:80"))
			snoozed(t, err)
		}
		expect("three jobs found it full", HostFull)
		succeeds(passes[0])
		expect("three of four run")
		succeeds(passes[1])
		expect("two of four run", HostFree)
		succeeds(passes[2])
		succeeds(passes[3])
		expect("none runs")

		for range breakerTestOptions.Failures + 3 {
			if p, err := g.enter(t.Context(), to("a:80")); err == nil {
				unconnected(p)
			}
		}
		expect("it failed often", HostPaused)
		for range 3 { // probes
			time.Sleep(breakerTestOptions.MaxPause)
			if p, err := g.enter(t.Context(), to("a:80")); err == nil {
				unconnected(p)
			}
		}
		expect("probes failed")
		time.Sleep(breakerTestOptions.MaxPause)
		p, err := g.enter(t.Context(), to("a:80"))
		if err != nil {
			t.Fatal(err)
		}
		succeeds(p)
		expect("a probe did not", HostBack)
	})
}
