package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func TestCheckFindsTrouble(t *testing.T) {
	var events []event
	for name, c := range map[string]struct {
		fault string // "" means none
		spoil func(t *trouble, rows map[int64][]core.Job)
	}{
		"nothing":                    {"", func(*trouble, map[int64][]core.Job) {}},
		"a schedule behind":          {"neighbours", func(t *trouble, _ map[int64][]core.Job) { t.late = []string{"late"} }},
		"a schedule gone":            {"neighbours", func(t *trouble, _ map[int64][]core.Job) { t.good-- }},
		"a neighbour failed":         {"neighbours", func(_ *trouble, rows map[int64][]core.Job) { rows[1][0].Status = core.Failed }},
		"a neighbour met five kills": {"", func(_ *trouble, rows map[int64][]core.Job) { quarantine(&rows[1][0]) }},
		"the poison took a neighbour": {"neighbours", func(t *trouble, rows map[int64][]core.Job) {
			quarantine(&rows[1][0])
			events = nil
			for pid := range maxTaken + 1 {
				events = append(events, event{pid: pid, what: "enter", args: []string{"1"}}, event{pid: pid, what: "poisoned", args: []string{"9"}})
			}
		}},
		"a damaged job did not end":   {"neighbours", func(_ *trouble, rows map[int64][]core.Job) { rows[2][0].Status = core.Queued }},
		"a damaged job is not named":  {"named", func(t *trouble, _ map[int64][]core.Job) { t.apart = t.apart[1:] }},
		"the poison job is done":      {"named", func(_ *trouble, rows map[int64][]core.Job) { rows[9][0].Status = core.Done }},
		"the poison job does not say": {"named", func(_ *trouble, rows map[int64][]core.Job) { rows[9][0].Errors = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &trouble{good: goodSchedules, strange: map[int64]bool{}, places: map[string]int64{}, apart: []string{"unreadable " + namedSchedule}}
			rows := map[int64][]core.Job{
				1: {done(1)},
				9: {{ID: 9, Status: core.Failed, Errors: []core.AttemptError{{Error: "quarantined: 5 runs in a row"}}}},
			}
			tr.poison.Store(9)
			for i, place := range named {
				id := int64(i + 2)
				tr.places[place], tr.strange[id], rows[id] = id, true, []core.Job{done(id)}
				tr.apart = append(tr.apart, fmt.Sprintf("job %d", id))
			}
			rows[1][0].Payload = []byte(`{"ms":5}`)
			events = nil
			c.spoil(tr, rows)
			v := &verdict{faults: map[string][]string{}, counts: map[string]int{}}
			v.checkTrouble(tr, events, rows, map[int64]submitted{1: {}, 9: {}})
			if c.fault == "" && len(v.faults) > 0 || c.fault != "" && len(v.faults[c.fault]) == 0 {
				t.Errorf("%v", v.faults)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	lag := func(start, answer time.Duration) *lags {
		return &lags{start: []time.Duration{start}, answer: []time.Duration{answer}}
	}
	for _, c := range []struct {
		plain, troubled *lags
		fails           bool
	}{
		{lag(time.Second, time.Second), lag(2*time.Second, 2*time.Second), false},
		{lag(time.Second, time.Second), lag(2*time.Second+time.Millisecond, time.Second), true},
		{lag(time.Second, time.Second), lag(time.Second, 3*time.Second), true},
		{lag(time.Millisecond, 0), lag(2*leastCompared, leastCompared), false},
	} {
		if err := compare(c.plain, c.troubled); (err != nil) != c.fails {
			t.Errorf("%s against %s: %v", c.troubled, c.plain, err)
		}
	}
}

// quarantine makes j a job that was lost in each of five runs.
func quarantine(j *core.Job) {
	j.Status, j.Errors = core.Failed, []core.AttemptError{{Kind: core.KindLost, Losses: core.MaxLosses}}
}
