package storetest

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func failureScenarios() []scenario {
	return []scenario{
		{"WatchFailures/raises one alert for each type and error, and counts", failuresRaised},
		{"WatchFailures/an alert is over when its dead letters are gone", failuresGone},
		{"WatchFailures/an alert is over when nothing has failed for long", failuresQuiet},
		{"WatchFailures/counts a job whose attempts are used up when it is claimed", failuresRefused},
		{"WatchFailures/counts each job once, by two processes", failuresOnce},
		{"WatchFailures/bounds how many alerts are open", failuresBounded},
		{"WatchFailures/a type that fails in many ways takes nobody else's alert", failuresCrowded},
		{"WatchFailures/whatever the error holds", failuresHostile},
		{"Maintain/drops alerts that were over long ago, never open ones", maintainAlerts},
	}
}

// fail makes n jobs of a type fail for good with errors of that text, in one Finish.
func (s *stage) fail(typ, text string, n int) []int64 {
	s.Helper()
	s.submitMany(n, typ)
	var ends []core.End
	var ids []int64
	for _, j := range s.claim(typ, n) {
		ends = append(ends, core.End{Ref: refOf(j), Outcome: core.EndFail, Errors: []core.AttemptError{{Attempt: 1, Kind: "error", Error: text}}})
		ids = append(ids, j.ID)
	}
	answers, err := s.store.Finish(s.ctx, ends)
	s.must(err)
	for _, a := range answers {
		if a.Status != core.Failed {
			s.Fatalf("%+v", a)
		}
	}
	return ids
}

// watchFailures watches as a ticker does: until a tick says that nothing is left.
func (s *stage) watchFailures() (raised int) {
	s.Helper()
	req := tickRequest("holder-1")
	req.ScheduleLimit = 1
	for range 100 {
		n, err := s.store.WatchFailures(s.ctx)
		s.must(err)
		raised += n
		if !s.tick(req).Failed {
			return raised
		}
	}
	s.Fatal("the tick says for ever that jobs have failed")
	return 0
}

func (s *stage) failures(open bool) []core.Alert {
	s.Helper()
	return s.alerts(core.AlertQuery{Kind: core.AlertJobFailed, Open: open})
}

func failuresRaised(s *stage) {
	req := tickRequest("holder-1")
	req.ScheduleLimit = 1
	s.put(core.Done, core.NewJob{})
	if res := s.tick(req); res.Failed || res.Failing {
		s.Fatal("a job that was done counts as failed")
	}
	s.fail("mail", "user 17 is unknown", 3)
	s.fail("mail", "user 18 is unknown", 2)
	s.fail("mail", "refused", 1)
	s.fail("sms", "refused", 1)
	if res := s.tick(req); !res.Failed || res.Failing {
		s.Fatalf("failed %t, failing %t", res.Failed, res.Failing)
	}
	if n := s.watchFailures(); n != 3 {
		s.Errorf("%d alerts were raised, want 3", n)
	}
	if !s.tick(req).Failing {
		s.Error("the tick does not say that alerts are open")
	}
	group := core.ErrorGroup("mail", []core.AttemptError{{Kind: "error", Error: "user 1 is unknown"}})
	want := map[string]int64{
		"mail/" + group: 5,
		"mail/" + core.ErrorGroup("mail", []core.AttemptError{{Kind: "error", Error: "refused"}}): 1,
		"sms/" + core.ErrorGroup("sms", []core.AttemptError{{Kind: "error", Error: "refused"}}):   1,
	}
	s.counts(want)
	s.fail("mail", "user 19 is unknown", 2)
	if n := s.watchFailures(); n != 0 {
		s.Errorf("%d alerts were raised anew", n)
	}
	want["mail/"+group] = 7
	s.counts(want)
	if n := s.watchFailures(); n != 0 {
		s.Errorf("%d alerts were raised of nothing", n)
	}
	s.counts(want)
	if unsent := s.alerts(core.AlertQuery{Unsent: true}); len(unsent) != 3 || !strings.Contains(unsent[2].Detail, "is unknown") {
		s.Errorf("unsent %+v", unsent)
	}
}

// counts holds what is open, by subject, against what is wanted.
func (s *stage) counts(want map[string]int64) {
	s.Helper()
	open := s.failures(true)
	if len(open) != len(want) {
		s.Errorf("%d alerts are open, want %d: %+v", len(open), len(want), open)
	}
	for _, a := range open {
		if want[a.Subject] != a.Count || a.Tenant != "" || !strings.HasPrefix(a.Detail, core.FailureDetail) && !strings.HasPrefix(a.Detail, core.FailuresDetail) {
			s.Errorf("want %d of %s, got %+v", want[a.Subject], a.Subject, a)
		}
	}
}

func failuresGone(s *stage) {
	ids := s.fail("mail", "refused", 2)
	kept := s.fail("sms", "refused", 1)
	s.watchFailures()
	_, err := s.store.Retry(s.ctx, ids[0])
	s.must(err)
	s.watchFailures()
	if open := s.failures(true); len(open) != 2 {
		s.Fatalf("one dead letter of the group is left: %+v", open)
	}
	if _, err := s.store.Discard(s.ctx, core.DeadQuery{IDs: ids}, 10); err != nil {
		s.Fatal(err)
	}
	s.watchFailures()
	if open := s.failures(true); len(open) != 1 || !strings.HasPrefix(open[0].Subject, "sms/") {
		s.Fatalf("no dead letter of the group is left: %+v", open)
	}
	if n := len(s.failures(false)); n != 2 {
		s.Errorf("%d alerts in all, want 2", n)
	}
	s.fail("mail", "refused", 1)
	if n := s.watchFailures(); n != 1 {
		s.Errorf("failed anew: %d alerts were raised", n)
	}
	// One that is over before it was seen is told all the same.
	_, err = s.store.Retry(s.ctx, kept[0])
	s.must(err)
	again := s.fail("fax", "refused", 1)
	_, err = s.store.Retry(s.ctx, again[0])
	s.must(err)
	s.watchFailures()
	for _, a := range s.failures(false) {
		if over := !strings.HasPrefix(a.Subject, "mail/"); over && (a.ClearedAt.IsZero() || a.Count != 1) {
			s.Errorf("%+v", a)
		}
	}
	if n := len(s.failures(false)); n != 4 {
		s.Errorf("%d alerts in all, want 4", n)
	}
}

func failuresQuiet(s *stage) {
	s.fail("mail", "refused", 1)
	s.watchFailures()
	s.advance(core.FailureQuiet - time.Minute)
	s.fail("mail", "refused", 1)
	s.watchFailures()
	s.advance(2 * time.Minute)
	s.watchFailures()
	if open := s.failures(true); len(open) != 1 || open[0].Count != 2 {
		s.Fatalf("it failed a minute ago: %+v", open)
	}
	s.advance(core.FailureQuiet)
	s.watchFailures()
	if all := s.failures(false); len(all) != 1 || all[0].ClearedAt.IsZero() {
		s.Fatalf("nothing has failed for long: %+v", all)
	}
	s.fail("mail", "refused", 1)
	s.watchFailures()
	if open := s.failures(true); len(open) != 1 || open[0].Count != 1 {
		s.Errorf("failed anew: %+v", open)
	}
}

// failuresRefused: such a row is ended by whoever would have claimed it, without a Finish.
func failuresRefused(s *stage) {
	s.submitOne(core.NewJob{Type: "mail", MaxAttempts: 1})
	for _, j := range s.claim("mail", 1) {
		s.finish(core.End{Ref: refOf(j), Outcome: core.EndRetry, Errors: []core.AttemptError{{Attempt: 1, Kind: "error", Error: "refused"}}})
	}
	if jobs := s.claim("mail", 1); len(jobs) != 0 {
		s.Fatalf("claimed beyond its attempts: %+v", jobs)
	}
	s.watchFailures()
	if open := s.failures(true); len(open) != 1 || open[0].Count != 1 || !strings.HasPrefix(open[0].Subject, "mail/") {
		s.Errorf("open %+v", open)
	}
}

func failuresOnce(s *stage) {
	other := s.second()
	const rounds, each = 10, 20
	fail := func() error {
		for range rounds {
			s.fail("mail", "refused", each)
		}
		return nil
	}
	watch := func(store core.Store) func() error {
		return func() error {
			for range rounds {
				if _, err := store.WatchFailures(s.ctx); err != nil {
					return err
				}
			}
			return nil
		}
	}
	s.together(fail, watch(s.store), watch(other.store), watch(other.store))
	s.watchFailures()
	if all := s.failures(false); len(all) != 1 || all[0].Count != rounds*each {
		s.Errorf("want one alert of %d, got %+v", rounds*each, all)
	}
}

func failuresBounded(s *stage) {
	const more = 30
	letters := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1+i/26) }
	for i := range core.FailuresOfType + more {
		s.fail("mail", "word "+letters(i), 1)
	}
	s.watchFailures()
	s.fail("mail", "still more", 1)
	s.fail("sms", "refused", 1)
	s.watchFailures()
	of := map[string]int64{}
	for _, a := range s.failures(true) {
		of[a.Subject] = a.Count
	}
	if len(of) != core.FailuresOfType+2 || of["mail/other"] != more+1 {
		s.Errorf("%d alerts are open, %d failures under the shared one", len(of), of["mail/other"])
	}
	for i := range core.FailuresOfAll + more { // of types nobody has heard of
		s.fail(fmt.Sprintf("made-up-%d", i), "refused", 1)
	}
	s.watchFailures()
	open, last := 0, int64(0)
	for q := (core.AlertQuery{Kind: core.AlertJobFailed, Open: true, Limit: 1000}); ; {
		list, err := s.store.Alerts(s.ctx, q)
		s.must(err)
		for _, a := range list {
			if open++; a.Subject == "other" {
				last = a.Count
			}
			q.Before = a.ID
		}
		if len(list) < q.Limit {
			break
		}
	}
	if open > core.FailuresOfAll+2 || last < more {
		s.Errorf("%d alerts are open, %d failures under the last", open, last)
	}
	_, err := s.store.Discard(s.ctx, core.DeadQuery{}, 10_000)
	s.must(err)
	s.watchFailures()
	if open := s.failures(true); len(open) != 0 {
		s.Errorf("all dead letters are gone: %+v", open)
	}
}

// failuresCrowded: what shares an alert takes no room from groups that have one of their own, nor do groups known before.
func failuresCrowded(s *stage) {
	word := func(i int) string { return "word " + string(rune('a'+i%26)) + string(rune('g'+i/26)) + "s" }
	known, fresh := core.FailuresOfType/2, core.FailuresOfType/4
	for i := range known {
		s.fail("few", word(i), 1)
	}
	s.watchFailures()
	for i := range known + fresh {
		s.fail("few", word(i), 1)
	}
	for i := range core.FailuresOfAll + 10 {
		s.fail("noisy", word(i), 1)
	}
	s.fail("quiet", "refused", 1)
	s.watchFailures()
	of := map[string]int{}
	for _, a := range s.failures(true) {
		typ, group, _ := strings.Cut(a.Subject, "/")
		if group == "other" {
			typ = a.Subject
		}
		of[typ]++
	}
	want := map[string]int{"few": known + fresh, "noisy": core.FailuresOfType, "noisy/other": 1, "quiet": 1}
	if !maps.Equal(of, want) {
		s.Errorf("alerts open: %v, want %v", of, want)
	}
}

func failuresHostile(s *stage) {
	for _, text := range []string{"", strings.Repeat("\u00e9", 5000), "\"'`\\%_/other", "\x00\x01", "\xff\xfe", "{}[]", "-- ; DROP TABLE x"} {
		s.submitMany(1, "mail/other")
		for _, j := range s.claim("mail/other", 1) {
			end := core.End{Ref: refOf(j), Outcome: core.EndFail, Errors: []core.AttemptError{{Attempt: 1, Kind: "error", Error: text}}}
			if _, err := s.store.Finish(s.ctx, []core.End{end}); err != nil {
				s.Logf("the store refuses %q: %v", text, err)
			}
		}
	}
	s.watchFailures()
	if open := s.failures(true); len(open) < 4 {
		s.Errorf("open %+v", open)
	}
	for _, a := range s.failures(true) {
		if len([]rune(a.Detail)) > core.FailureText+len(core.FailureDetail) {
			s.Errorf("a detail of %d bytes", len(a.Detail))
		}
	}
}

func maintainAlerts(s *stage) {
	open := core.Alert{Kind: core.AlertScheduleMissed, Subject: "open"}
	over := core.Alert{Kind: core.AlertDropped, Subject: "over", RaisedAt: s.now(), ClearedAt: s.now()}
	s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{open, over}))
	s.advance(core.AlertRetention - day)
	s.maintain(core.MaintainRequest{})
	young := over
	young.Subject = "young"
	s.must(s.store.RaiseAlerts(s.ctx, []core.Alert{young}))
	if all := s.alerts(core.AlertQuery{}); len(all) != 3 {
		s.Fatalf("in time: %+v", all)
	}
	s.advance(2 * day)
	s.maintain(core.MaintainRequest{})
	all := s.alerts(core.AlertQuery{})
	if len(all) != 2 || all[0].Subject != "young" || all[1].Subject != "open" {
		s.Errorf("left %+v", all)
	}
}
