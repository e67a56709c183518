package main

import (
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// story is a witness file in short: seconds, pid, event, arguments.
func story(lines ...string) []event {
	var out []event
	for _, l := range lines {
		f := strings.Fields(l)
		at, err := time.ParseDuration(f[0])
		if err != nil {
			panic(err)
		}
		e := event{at: time.UnixMicro(0).Add(at), what: f[2], args: f[3:]}
		e.pid = int(event{args: f[1:2]}.i64(0))
		out = append(out, e)
	}
	return out
}

func done(id int64) core.Job {
	return core.Job{ID: id, Status: core.Done, Attempts: 1, MaxAttempts: 5, LeaseToken: 1, Payload: []byte("1"), RunAt: time.UnixMicro(5)}
}

func TestCheckFindsEachBreak(t *testing.T) {
	sent := map[int64]submitted{1: {payload: "1", runAt: time.UnixMicro(5)}}
	good := story("0s 9 enter 1 1 1 60000000", "1s 9 leave 1 1 ok", "1s 9 ended 1 1 1 done false false false")
	with := func(lines ...string) []event { return append(append([]event{}, good...), story(lines...)...) }
	row := func(change func(*core.Job)) []core.Job {
		j := done(1)
		change(&j)
		return []core.Job{j}
	}
	for name, c := range map[string]struct {
		invariant string
		events    []event
		rows      []core.Job
	}{
		"nothing":                     {"", good, []core.Job{done(1)}},
		"lost":                        {"1", good, nil},
		"not ended":                   {"1", good, row(func(j *core.Job) { j.Status = core.Running })},
		"in two tables":               {"3", good, []core.Job{done(1), done(1)}},
		"finished twice":              {"3", with("2s 8 ended 1 1 1 done false false false"), []core.Job{done(1)}},
		"entered twice under a token": {"2", with("2s 8 enter 1 1 1 60000000"), []core.Job{done(1)}},
		"entered under a live lease":  {"4", story("0s 9 enter 1 1 1 60000000", "1s 8 enter 1 2 1 60000000"), []core.Job{done(1)}},
		"a beat kept the lease":       {"4", story("0s 9 enter 1 1 1 3000000", "2s 9 beat 1 1 9000000", "5s 8 enter 1 2 1 9000000"), []core.Job{done(1)}},
		"past its lease, awake":       {"4", story("0s 9 enter 1 1 1 3000000", "5s 9 leave 1 1 ok"), []core.Job{done(1)}},
		"past its lease, asleep":      {"", story("0s 9 enter 1 1 1 3000000", "1s 1 stop w 9", "5s 1 cont w 9", "5s 9 leave 1 1 ok"), []core.Job{done(1)}},
		"more attempts than allowed":  {"5", good, row(func(j *core.Job) { j.Attempts = 6 })},
		"charged and never entered":   {"5", nil, []core.Job{done(1)}},
		"two live jobs of a key":      {"6", good, []core.Job{withKey(1, 0, 60), withKey(2, 20, 70)}},
		"key free again":              {"", good, []core.Job{withKey(1, 0, 60), withKey(2, 61, 70)}},
		"one fence, two processes":    {"9", with("0s 7 dispatch 64 1 0 5 0", "0s 8 dispatch 64 1 0 5 0"), []core.Job{done(1)}},
		"deposed, still dispatches":   {"9", with("0s 7 dispatch 64 1 0 5 1", "0s 8 dispatch 64 1 0 6 2", "0s 7 dispatch 64 1 0 5 3000000"), []core.Job{done(1)}},
		"entered after a 200":         {"10", with("2s 1 cancel 1 200", "3s 8 enter 1 2 1 90000000"), row(func(j *core.Job) { j.Status = core.Cancelled })},
		"cancelled by 200, done":      {"10", with("2s 1 cancel 1 200"), []core.Job{done(1)}},
		"cancelled by 202, failed":    {"10", with("2s 1 cancel 1 202"), row(func(j *core.Job) { j.Status = core.Failed })},
		"another payload":             {"11", good, row(func(j *core.Job) { j.Payload = []byte("1.0") })},
		"another run_at":              {"11", good, row(func(j *core.Job) { j.RunAt = time.UnixMicro(6) })},
	} {
		t.Run(name, func(t *testing.T) {
			jobs := sent
			v := check(c.events, c.rows, jobs, &trouble{good: goodSchedules})
			for inv, faults := range v.faults {
				if c.invariant == "" || (inv != c.invariant && len(v.faults[c.invariant]) == 0) {
					t.Errorf("invariant %s: %v", inv, faults)
				}
			}
			if c.invariant != "" && len(v.faults[c.invariant]) == 0 {
				t.Errorf("invariant %s was not found broken", c.invariant)
			}
		})
	}
}

// withKey is a done job that held a key from one second to another.
func withKey(id, from, to int64) core.Job {
	j := done(id)
	j.DedupeKey, j.CreatedAt, j.FinishedAt = "k", time.Unix(from, 0), time.Unix(to, 0)
	if id != 1 {
		j.Attempts = 0
	}
	return j
}
