package operate

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
	"github.com/belfry-dev/belfry/core/tick"
)

func failureScenarios() []storetest.Scenario {
	return []storetest.Scenario{
		{Name: "WatchFailures/raises one alert for each type and error, and counts", Run: failuresRaised},
		{Name: "WatchFailures/an alert is cleared when its dead letters are gone", Run: failuresGone},
		{Name: "WatchFailures/an alert is cleared when nothing has failed for long", Run: failuresQuiet},
		{Name: "WatchFailures/counts a job whose attempts are used up when it is claimed", Run: failuresRefused},
		{Name: "WatchFailures/counts each job once, by two processes", Run: failuresOnce},
		{Name: "WatchFailures/bounds how many alerts are open", Run: failuresBounded},
		{Name: "WatchFailures/a type with many kinds of failure takes no other type's alert", Run: failuresCrowded},
		{Name: "WatchFailures/any error text", Run: failuresHostile},
		{Name: "Maintain/drops alerts cleared long ago, never open ones", Run: maintainAlerts},
	}
}

// Fail makes n jobs of a type fail for good with this error, in one Finish.
func Fail(s *storetest.Stage, typ, text string, n int) []int64 {
	s.Helper()
	s.SubmitMany(n, typ)
	var ends []core.End
	var ids []int64
	for _, j := range s.Claim(typ, n) {
		ends = append(ends, core.End{Ref: storetest.RefOf(j), Outcome: core.EndFail, Errors: []core.AttemptError{{Attempt: 1, Kind: "error", Error: text}}})
		ids = append(ids, j.ID)
	}
	answers, err := s.Store.Finish(s.Ctx, ends)
	s.Must(err)
	for _, a := range answers {
		if a.Status != core.Failed {
			s.Fatalf("%+v", a)
		}
	}
	return ids
}

// WatchFailures calls the store's WatchFailures as a ticker does, until a tick reports that nothing is left.
func WatchFailures(s *storetest.Stage) (raised int) {
	s.Helper()
	req := storetest.TickRequest("holder-1")
	req.ScheduleLimit = 1
	for range 100 {
		n, err := s.Store.WatchFailures(s.Ctx)
		s.Must(err)
		raised += n
		if !s.Tick(req).Failed {
			return raised
		}
	}
	s.Fatal("the tick says for ever that jobs have failed")
	return 0
}

func failures(s *storetest.Stage, open bool) []core.Alert {
	s.Helper()
	return s.Alerts(core.AlertQuery{Kind: core.AlertJobFailed, Open: open})
}

func failuresRaised(s *storetest.Stage) {
	req := storetest.TickRequest("holder-1")
	req.ScheduleLimit = 1
	s.Put(core.Done, core.NewJob{})
	if res := s.Tick(req); res.Failed || res.Failing {
		s.Fatal("a job that was done counts as failed")
	}
	Fail(s, "mail", "user 17 is unknown", 3)
	Fail(s, "mail", "user 18 is unknown", 2)
	Fail(s, "mail", "refused", 1)
	Fail(s, "sms", "refused", 1)
	if res := s.Tick(req); !res.Failed || res.Failing {
		s.Fatalf("failed %t, failing %t", res.Failed, res.Failing)
	}
	if n := WatchFailures(s); n != 3 {
		s.Errorf("%d alerts were raised, want 3", n)
	}
	if !s.Tick(req).Failing {
		s.Error("the tick does not say that alerts are open")
	}
	group := core.ErrorGroup("mail", []core.AttemptError{{Kind: "error", Error: "user 1 is unknown"}})
	want := map[string]int64{
		"mail/" + group: 5,
		"mail/" + core.ErrorGroup("mail", []core.AttemptError{{Kind: "error", Error: "refused"}}): 1,
		"sms/" + core.ErrorGroup("sms", []core.AttemptError{{Kind: "error", Error: "refused"}}):   1,
	}
	counts(s, want)
	Fail(s, "mail", "user 19 is unknown", 2)
	if n := WatchFailures(s); n != 0 {
		s.Errorf("%d alerts were raised again", n)
	}
	want["mail/"+group] = 7
	counts(s, want)
	if n := WatchFailures(s); n != 0 {
		s.Errorf("%d alerts were raised of nothing", n)
	}
	counts(s, want)
	if unsent := s.Alerts(core.AlertQuery{Unsent: true}); len(unsent) != 3 || !strings.Contains(unsent[2].Detail, "is unknown") {
		s.Errorf("unsent %+v", unsent)
	}
}

// counts compares the open alerts, by subject, with want.
func counts(s *storetest.Stage, want map[string]int64) {
	s.Helper()
	open := failures(s, true)
	if len(open) != len(want) {
		s.Errorf("%d alerts are open, want %d: %+v", len(open), len(want), open)
	}
	for _, a := range open {
		if want[a.Subject] != a.Count || a.Tenant != "" || !strings.HasPrefix(a.Detail, tick.FailureDetail) && !strings.HasPrefix(a.Detail, tick.FailuresDetail) {
			s.Errorf("want %d of %s, got %+v", want[a.Subject], a.Subject, a)
		}
	}
}

func failuresGone(s *storetest.Stage) {
	ids := Fail(s, "mail", "refused", 2)
	kept := Fail(s, "sms", "refused", 1)
	WatchFailures(s)
	_, err := s.Store.Retry(s.Ctx, ids[0])
	s.Must(err)
	WatchFailures(s)
	if open := failures(s, true); len(open) != 2 {
		s.Fatalf("one dead letter of the group is left: %+v", open)
	}
	if _, err := s.Store.Discard(s.Ctx, core.DeadQuery{IDs: ids}, 10); err != nil {
		s.Fatal(err)
	}
	WatchFailures(s)
	if open := failures(s, true); len(open) != 1 || !strings.HasPrefix(open[0].Subject, "sms/") {
		s.Fatalf("no dead letter of the group is left: %+v", open)
	}
	if n := len(failures(s, false)); n != 2 {
		s.Errorf("%d alerts in all, want 2", n)
	}
	Fail(s, "mail", "refused", 1)
	if n := WatchFailures(s); n != 1 {
		s.Errorf("failed again: %d alerts were raised", n)
	}
	// An alert that was cleared before it was sent is still sent.
	_, err = s.Store.Retry(s.Ctx, kept[0])
	s.Must(err)
	again := Fail(s, "fax", "refused", 1)
	_, err = s.Store.Retry(s.Ctx, again[0])
	s.Must(err)
	WatchFailures(s)
	for _, a := range failures(s, false) {
		if over := !strings.HasPrefix(a.Subject, "mail/"); over && (a.ClearedAt.IsZero() || a.Count != 1) {
			s.Errorf("%+v", a)
		}
	}
	if n := len(failures(s, false)); n != 4 {
		s.Errorf("%d alerts in all, want 4", n)
	}
}

func failuresQuiet(s *storetest.Stage) {
	Fail(s, "mail", "refused", 1)
	WatchFailures(s)
	s.Advance(tick.FailureQuiet - time.Minute)
	Fail(s, "mail", "refused", 1)
	WatchFailures(s)
	s.Advance(2 * time.Minute)
	WatchFailures(s)
	if open := failures(s, true); len(open) != 1 || open[0].Count != 2 {
		s.Fatalf("it failed a minute ago: %+v", open)
	}
	s.Advance(tick.FailureQuiet)
	WatchFailures(s)
	if all := failures(s, false); len(all) != 1 || all[0].ClearedAt.IsZero() {
		s.Fatalf("nothing has failed for long: %+v", all)
	}
	Fail(s, "mail", "refused", 1)
	WatchFailures(s)
	if open := failures(s, true); len(open) != 1 || open[0].Count != 1 {
		s.Errorf("failed again: %+v", open)
	}
}

// failuresRefused: the claim ends such a row, without a Finish.
func failuresRefused(s *storetest.Stage) {
	s.SubmitOne(core.NewJob{Type: "mail", MaxAttempts: 1})
	for _, j := range s.Claim("mail", 1) {
		s.Finish(core.End{Ref: storetest.RefOf(j), Outcome: core.EndRetry, Errors: []core.AttemptError{{Attempt: 1, Kind: "error", Error: "refused"}}})
	}
	if jobs := s.Claim("mail", 1); len(jobs) != 0 {
		s.Fatalf("claimed beyond its attempts: %+v", jobs)
	}
	WatchFailures(s)
	if open := failures(s, true); len(open) != 1 || open[0].Count != 1 || !strings.HasPrefix(open[0].Subject, "mail/") {
		s.Errorf("open %+v", open)
	}
}

func failuresOnce(s *storetest.Stage) {
	other := s.Second()
	const rounds, each = 10, 20
	fail := func() error {
		for range rounds {
			Fail(s, "mail", "refused", each)
		}
		return nil
	}
	watch := func(store core.Store) func() error {
		return func() error {
			for range rounds {
				if _, err := store.WatchFailures(s.Ctx); err != nil {
					return err
				}
			}
			return nil
		}
	}
	s.Together(fail, watch(s.Store), watch(other.Store), watch(other.Store))
	WatchFailures(s)
	if all := failures(s, false); len(all) != 1 || all[0].Count != rounds*each {
		s.Errorf("want one alert of %d, got %+v", rounds*each, all)
	}
}

func failuresBounded(s *storetest.Stage) {
	const more = 30
	letters := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1+i/26) }
	for i := range tick.FailuresOfType + more {
		Fail(s, "mail", "word "+letters(i), 1)
	}
	WatchFailures(s)
	Fail(s, "mail", "still more", 1)
	Fail(s, "sms", "refused", 1)
	WatchFailures(s)
	of := map[string]int64{}
	for _, a := range failures(s, true) {
		of[a.Subject] = a.Count
	}
	if len(of) != tick.FailuresOfType+2 || of["mail/other"] != more+1 {
		s.Errorf("%d alerts are open, %d failures under the shared one", len(of), of["mail/other"])
	}
	for i := range tick.FailuresOfAll + more { // of types that nobody uses
		Fail(s, fmt.Sprintf("made-up-%d", i), "refused", 1)
	}
	WatchFailures(s)
	open, last := 0, int64(0)
	for q := (core.AlertQuery{Kind: core.AlertJobFailed, Open: true, Limit: 1000}); ; {
		list, err := s.Store.Alerts(s.Ctx, q)
		s.Must(err)
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
	if open > tick.FailuresOfAll+2 || last < more {
		s.Errorf("%d alerts are open, %d failures under the last", open, last)
	}
	_, err := s.Store.Discard(s.Ctx, core.DeadQuery{}, 10_000)
	s.Must(err)
	WatchFailures(s)
	if open := failures(s, true); len(open) != 0 {
		s.Errorf("all dead letters are gone: %+v", open)
	}
}

// failuresCrowded: failures that share an alert take no place from groups with an alert of their own, or from groups that
// were known before.
func failuresCrowded(s *storetest.Stage) {
	word := func(i int) string { return "word " + string(rune('a'+i%26)) + string(rune('g'+i/26)) + "s" }
	known, fresh := tick.FailuresOfType/2, tick.FailuresOfType/4
	for i := range known {
		Fail(s, "few", word(i), 1)
	}
	WatchFailures(s)
	for i := range known + fresh {
		Fail(s, "few", word(i), 1)
	}
	for i := range tick.FailuresOfAll + 10 {
		Fail(s, "noisy", word(i), 1)
	}
	Fail(s, "quiet", "refused", 1)
	WatchFailures(s)
	of := map[string]int{}
	for _, a := range failures(s, true) {
		typ, group, _ := strings.Cut(a.Subject, "/")
		if group == "other" {
			typ = a.Subject
		}
		of[typ]++
	}
	want := map[string]int{"few": known + fresh, "noisy": tick.FailuresOfType, "noisy/other": 1, "quiet": 1}
	if !maps.Equal(of, want) {
		s.Errorf("alerts open: %v, want %v", of, want)
	}
}

func failuresHostile(s *storetest.Stage) {
	for _, text := range []string{"", strings.Repeat("\u00e9", 5000), "\"'`\\%_/other", "\x00\x01", "\xff\xfe", "{}[]", "-- ; DROP TABLE x"} {
		s.SubmitMany(1, "mail/other")
		for _, j := range s.Claim("mail/other", 1) {
			end := core.End{Ref: storetest.RefOf(j), Outcome: core.EndFail, Errors: []core.AttemptError{{Attempt: 1, Kind: "error", Error: text}}}
			if _, err := s.Store.Finish(s.Ctx, []core.End{end}); err != nil {
				s.Logf("the store refuses %q: %v", text, err)
			}
		}
	}
	WatchFailures(s)
	if open := failures(s, true); len(open) < 4 {
		s.Errorf("open %+v", open)
	}
	for _, a := range failures(s, true) {
		if len([]rune(a.Detail)) > tick.FailureText+len(tick.FailureDetail) {
			s.Errorf("a detail of %d bytes", len(a.Detail))
		}
	}
}

func maintainAlerts(s *storetest.Stage) {
	open := core.Alert{Kind: core.AlertScheduleMissed, Subject: "open"}
	over := core.Alert{Kind: core.AlertDropped, Subject: "over", RaisedAt: s.Now(), ClearedAt: s.Now()}
	s.Must(s.Store.RaiseAlerts(s.Ctx, []core.Alert{open, over}))
	s.Advance(tick.AlertRetention - storetest.Day)
	s.Maintain(core.MaintainRequest{})
	young := over
	young.Subject = "young"
	s.Must(s.Store.RaiseAlerts(s.Ctx, []core.Alert{young}))
	if all := s.Alerts(core.AlertQuery{}); len(all) != 3 {
		s.Fatalf("in time: %+v", all)
	}
	s.Advance(2 * storetest.Day)
	s.Maintain(core.MaintainRequest{})
	all := s.Alerts(core.AlertQuery{})
	if len(all) != 2 || all[0].Subject != "young" || all[1].Subject != "open" {
		s.Errorf("left %+v", all)
	}
}
