package damage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/storetest"
)

// apartScenarios: a row that raises an error is set apart and reported. The other rows proceed, and so does this row once it
// is mended.
func apartScenarios() []storetest.Scenario {
	var all []storetest.Scenario
	for _, act := range []struct {
		name string
		of   []storetest.Break // these make the row raise an error in this act
		run  func(s *storetest.Stage, how storetest.Break)
	}{
		{"ClaimDue/claims the others beside", []storetest.Break{storetest.BreakPayload, storetest.BreakChange, storetest.BreakCommit, storetest.BreakUndo, storetest.BreakIgnore}, apartClaim},
		{"ClaimDue/claims other tenants' jobs beside", []storetest.Break{storetest.BreakPayload, storetest.BreakChange}, apartClaimTenants},
		{"ClaimDue/ends the others that may not run beside", []storetest.Break{storetest.BreakRemove, storetest.BreakTwin}, apartRefused},
		{"Start/starts the others beside", []storetest.Break{storetest.BreakPayload, storetest.BreakChange, storetest.BreakCommit, storetest.BreakUndo, storetest.BreakIgnore}, apartStart},
		{"Heartbeat/extends the others beside", []storetest.Break{storetest.BreakChange, storetest.BreakCommit, storetest.BreakUndo}, apartBeat},
		{"Tick/dispatches the others beside", []storetest.Break{storetest.BreakPayload, storetest.BreakChange, storetest.BreakCommit, storetest.BreakUndo, storetest.BreakIgnore}, apartDispatch},
		{"Tick/publishes the others again beside", []storetest.Break{storetest.BreakPayload, storetest.BreakChange, storetest.BreakCommit, storetest.BreakUndo}, apartRepublish},
		{"Tick/returns the others to scheduled without a queue beside", []storetest.Break{storetest.BreakPayload, storetest.BreakChange, storetest.BreakUndo}, apartRecall},
		{"Tick/cancels the others that have expired beside", []storetest.Break{storetest.BreakPayload, storetest.BreakRemove, storetest.BreakDone}, apartExpire},
		{"Tick/lists the other lost jobs beside", []storetest.Break{storetest.BreakPayload, storetest.BreakChange, storetest.BreakUndo}, apartLost},
		{"Finish/fails all for good beside", []storetest.Break{storetest.BreakNote}, apartNotes},
		{"ClaimDue/ends all that may not run beside", []storetest.Break{storetest.BreakNote}, apartNotesOfClaim},
		{"Finish/changes nothing, and says so, beside", []storetest.Break{storetest.BreakPayload, storetest.BreakChange, storetest.BreakRemove, storetest.BreakTwin, storetest.BreakDone}, apartFinish},
		{"Redrive/retries the others beside", []storetest.Break{storetest.BreakDrop, storetest.BreakInsert}, apartRedrive},
		{"Discard/deletes the others beside", []storetest.Break{storetest.BreakDrop}, apartDiscard},
	} {
		for _, how := range act.of {
			all = append(all, storetest.Scenario{Name: act.name + " " + how.String(), Run: func(s *storetest.Stage) { act.run(s, how) }})
		}
	}
	return append(all,
		storetest.Scenario{Name: "Discard/continues past any number of undeletable dead letters", Run: apartDiscardMany},
		storetest.Scenario{Name: "SetApart/a row is set apart for longer each time, reported once and forgotten when it is mended", Run: apartRounds},
		storetest.Scenario{Name: "SetApart/a row stays named until it can have been met again", Run: apartUntilMet},
		storetest.Scenario{Name: "SetApart/rows of a kind are bounded", Run: apartBounded},
		storetest.Scenario{Name: "AdvanceSchedules/changes nothing, and says so, if a row raises an error", Run: apartAdvance},
	)
}

// large returns a payload that no store keeps in the row itself and that does not compress.
func large(n int) []byte {
	var b strings.Builder
	b.WriteByte('"')
	for i := range 2_000 {
		fmt.Fprintf(&b, "%x", uint64(i+1)*0x9E3779B97F4A7C15*uint64(n*2+1))
	}
	b.WriteByte('"')
	return []byte(b.String())
}

// broken submits jobs of a sound type and three of a bad type. place moves them all into the scenario's state; then broken
// breaks the first bad job. If the fault applies to a type, it breaks all three.
func broken(s *storetest.Stage, how storetest.Break, job core.NewJob, place func(ids []int64)) (sound, bad []int64, mend func()) {
	s.Helper()
	var jobs []core.NewJob
	for i := range 12 {
		job.Type, job.Payload = "sound", nil
		if i%4 == 0 {
			job.Type, job.Payload = "bad", large(i)
		}
		jobs = append(jobs, job)
	}
	var ids []int64
	for i, one := range s.Submit(jobs...) {
		ids = append(ids, one.ID)
		if i%4 == 0 {
			bad = append(bad, one.ID)
		} else {
			sound = append(sound, one.ID)
		}
	}
	if place != nil {
		place(ids)
	}
	breaker, ok := s.DB.(storetest.Breaker)
	if ok {
		mend = breaker.Break(s.T, how, bad[0])
	}
	if mend == nil {
		s.Skip("this database cannot be broken so")
	}
	if how == storetest.BreakPayload || how == storetest.BreakTwin {
		sound, bad = append(sound, bad[1:]...), bad[:1] // only this row is broken
		slices.Sort(sound)
	}
	return sound, bad, mend
}

func both(n int) []core.Quota {
	return []core.Quota{storetest.Quota("bad", n), storetest.Quota("sound", n)}
}

// named checks what is reported of rows that are set apart.
func named(s *storetest.Stage, ids []int64, act string) {
	s.Helper()
	namedAs(s, core.ApartJob, ids, act)
}

func namedAs(s *storetest.Stage, kind string, ids []int64, act string) {
	s.Helper()
	told, err := s.Store.TellApart(s.Ctx)
	s.Must(err)
	apart, err := s.Store.Apart(s.Ctx, 100)
	s.Must(err)
	for what, faults := range map[string][]core.RowFault{"told": told, "listed": apart} {
		var got []int64
		for _, f := range faults {
			got = append(got, f.ID)
			if f.Kind != kind || f.Act == "" || f.Error == "" || f.Tries < 1 || f.Since.IsZero() || !f.RetryAt.After(f.Since) {
				s.Errorf("%s %s: %+v", act, what, f)
			}
		}
		if slices.Sort(got); !slices.Equal(got, ids) {
			s.Errorf("%s: %v are %s, want %v: %+v", act, got, what, ids, faults)
		}
	}
	stats, err := s.Store.Stats(s.Ctx, time.Hour)
	if s.Must(err); len(stats.SetApart) != 1 || stats.SetApart[0] != (core.ApartCount{Kind: kind, Rows: len(ids)}) {
		s.Errorf("%s: counted %+v", act, stats.SetApart)
	}
	if again, err := s.Store.TellApart(s.Ctx); err != nil || len(again) != 0 {
		s.Errorf("%s: reported again %+v, %v", act, again, err)
	}
}

func sortedIDs(jobs []core.Job) []int64 {
	ids := storetest.IdsOf(jobs)
	slices.Sort(ids)
	return ids
}

// same checks that exactly these jobs were returned.
func same(s *storetest.Stage, what string, got []core.Job, want []int64) {
	s.Helper()
	if ids := sortedIDs(got); !slices.Equal(ids, want) {
		s.Errorf("%s: %v, want %v", what, ids, want)
	}
}
