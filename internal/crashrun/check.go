package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// verdict collects the broken invariants, by their number in docs/testing.md.
type verdict struct {
	faults map[string][]string
	counts map[string]int
	worst  time.Duration // of start after a tick died between commit and publish
	points map[string]int
	left   int // messages in the queues at the end
	dead   int // dead letters of the queues
}

func (v *verdict) fault(invariant, format string, args ...any) {
	v.faults[invariant] = append(v.faults[invariant], fmt.Sprintf(format, args...))
}

// check holds the witness and the final rows against the invariants. Of rows that were damaged by hand no more is asked than
// what trouble says.
func check(events []event, rows []core.Job, jobs map[int64]submitted, t *trouble) *verdict {
	v := &verdict{faults: map[string][]string{}, counts: map[string]int{}, points: map[string]int{}}
	byID := map[int64][]core.Job{}
	for _, j := range rows {
		byID[j.ID] = append(byID[j.ID], j)
	}
	v.checkTrouble(t, events, byID, jobs)
	for id := range t.strange {
		delete(byID, id)
	}
	v.checkKept(jobs, byID)
	v.checkKeys(rows)
	v.checkAttempts(events, byID)
	v.checkEnds(events)
	v.checkLeases(events)
	v.checkFences(events)
	v.checkCancels(events, byID)
	v.checkLag(events)
	for _, e := range events {
		v.counts[e.what]++
		if e.what == "point" {
			v.points[e.args[0]]++
		}
	}
	return v
}

// checkKept: 1, every accepted job has ended and stands in one table only; 11, payload and run_at are as sent.
func (v *verdict) checkKept(jobs map[int64]submitted, byID map[int64][]core.Job) {
	for id, sent := range jobs {
		switch found := byID[id]; {
		case len(found) == 0:
			v.fault("1", "job %d was accepted and is nowhere", id)
		case len(found) > 1:
			v.fault("3", "job %d stands in %d tables", id, len(found))
		default:
			j := found[0]
			if !j.Status.Ended() {
				v.fault("1", "job %d is still %s", id, j.Status)
			}
			if string(j.Payload) != sent.payload {
				v.fault("11", "job %d: payload %s, sent %s", id, j.Payload, sent.payload)
			}
			if j.Status == core.Done && j.LeaseToken <= 2 { // its first start was its last: nothing moved run_at
				v.counts["run_at compared"]++
				if !j.RunAt.Equal(sent.runAt) {
					v.fault("11", "job %d: run_at %s, answered %s", id, j.RunAt, sent.runAt)
				}
			}
		}
	}
}

// checkKeys: 6, two jobs of one dedupe key never lived at once.
func (v *verdict) checkKeys(rows []core.Job) {
	byKey := map[string][]core.Job{}
	for _, j := range rows {
		if j.DedupeKey != "" {
			byKey[j.Tenant+"\x00"+j.DedupeKey] = append(byKey[j.Tenant+"\x00"+j.DedupeKey], j)
		}
	}
	for _, js := range byKey {
		slices.SortFunc(js, func(a, b core.Job) int { return a.CreatedAt.Compare(b.CreatedAt) })
		for i := 1; i < len(js); i++ {
			if end := js[i-1].FinishedAt; end.IsZero() || js[i].CreatedAt.Add(10*time.Second).Before(end) {
				v.fault("6", "jobs %d and %d of key %q lived at once", js[i-1].ID, js[i].ID, js[i].DedupeKey)
			}
		}
	}
}

// checkAttempts: 5, no more attempts than allowed, and each charged one was entered or is recorded as lost;
// 2, no (job, token) was entered twice.
func (v *verdict) checkAttempts(events []event, byID map[int64][]core.Job) {
	entered, seen := map[int64]int{}, map[core.Ref]bool{}
	for _, e := range events {
		if e.what != "enter" {
			continue
		}
		ref := core.Ref{ID: e.i64(0), Token: e.i64(1)}
		if seen[ref] {
			v.fault("2", "job %d was entered twice under token %d", ref.ID, ref.Token)
		}
		seen[ref] = true
		entered[ref.ID]++
	}
	for id, js := range byID {
		j, lost := js[0], 0
		for _, e := range j.Errors {
			if e.Kind == "lost" {
				lost++
			}
		}
		if j.Attempts > j.MaxAttempts {
			v.fault("5", "job %d: %d attempts of %d", id, j.Attempts, j.MaxAttempts)
		}
		if missing := j.Attempts - entered[id]; missing > lost {
			v.fault("5", "job %d: %d attempts charged, %d entered, %d lost", id, j.Attempts, entered[id], lost)
		}
	}
}

// checkEnds: 3, no job was finished twice.
func (v *verdict) checkEnds(events []event) {
	ends := map[int64]int{}
	for _, e := range events {
		if e.what != "ended" || e.args[4] == "true" || e.args[5] == "true" {
			continue
		}
		if s, err := core.ParseStatus(e.args[3]); err == nil && s.Ended() {
			if ends[e.i64(0)]++; ends[e.i64(0)] > 1 {
				v.fault("3", "job %d was finished twice", e.i64(0))
			}
		}
	}
}

// checkCancels: 10, a job whose cancel was answered 200 was never entered after that and is cancelled; one
// answered 202 is cancelled or done.
func (v *verdict) checkCancels(events []event, byID map[int64][]core.Job) {
	cancelled := map[int64]int64{}
	for _, e := range events {
		switch {
		case e.what == "cancel":
			cancelled[e.i64(0)] = e.i64(1)
		case e.what == "enter" && cancelled[e.i64(0)] == 200:
			v.fault("10", "job %d was entered after its cancel was answered 200", e.i64(0))
		}
	}
	for id, code := range cancelled {
		if len(byID[id]) == 0 {
			continue
		}
		s := byID[id][0].Status
		if (code == 200 && s != core.Cancelled) || (code == 202 && s != core.Cancelled && s != core.Done) {
			v.fault("10", "job %d is %s after its cancel was answered %d", id, s, code)
		}
	}
	v.counts["cancels"] = len(cancelled)
}
