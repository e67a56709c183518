package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/core"
)

// lags are what the neighbours of trouble feel.
type lags struct {
	start, answer []time.Duration // from run_at to the first entry; of submits that were answered. Sorted
}

func (l *lags) String() string {
	return fmt.Sprintf("jobs were entered after p50 %s, p99 %s, at most %s; submits answered after p50 %s, p99 %s",
		at(l.start, 0.5), at(l.start, 0.99), at(l.start, 1), at(l.answer, 0.5), at(l.answer, 0.99))
}

// at is the value below which so large a part of the sorted list is.
func at(list []time.Duration, part float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	return list[min(int(part*float64(len(list))), len(list)-1)].Round(time.Millisecond)
}

// lagsOf measures the first entry of each accepted job, without those of the held key.
func lagsOf(events []event, l *load) *lags {
	out := &lags{answer: slices.Sorted(slices.Values(l.answers))}
	seen := map[int64]bool{}
	for _, e := range events {
		if e.what != "enter" || seen[e.i64(0)] {
			continue
		}
		seen[e.i64(0)] = true
		if j, ok := l.jobs[e.i64(0)]; ok && j.key != heldKey {
			out.start = append(out.start, e.at.Sub(j.runAt))
		}
	}
	slices.Sort(out.start)
	return out
}

// compare holds the neighbours' lags against those of a run without trouble.
func compare(plain, troubled *lags) error {
	for what, of := range map[string][2]time.Duration{
		"lag of jobs": {at(plain.start, 0.99), at(troubled.start, 0.99)}, "answer to submits": {at(plain.answer, 0.99), at(troubled.answer, 0.99)},
	} {
		if of[1] > 2*max(of[0], leastCompared) {
			return fmt.Errorf("the p99 %s is %s, and %s without trouble", what, of[1], of[0])
		}
	}
	return nil
}

// leastCompared is a p99 below which nobody would see a difference.
const leastCompared = 50 * time.Millisecond

// look checks, before anything is mended, that what is at fault was set apart and that the good schedules went on.
func (t *trouble) look(ctx context.Context, conn *pgx.Conn) error {
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM belfry.set_apart").Scan(&t.rows); err != nil {
		return err
	}
	rows, err := conn.Query(ctx, `SELECT kind || ' ' || row_id FROM belfry.set_apart UNION SELECT kind || ' ' || about FROM belfry.set_apart UNION SELECT kind || ' ' || name FROM belfry.set_apart
		UNION SELECT 'unreadable ' || subject FROM belfry.alerts WHERE kind = 'schedule_unreadable'`)
	if err != nil {
		return err
	}
	t.apart, err = pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	rows, err = conn.Query(ctx, `SELECT s.name, extract(epoch FROM clock_timestamp() - s.accounted)::float8,
			extract(epoch FROM s.accounted - s.anchor)::bigint - coalesce((SELECT sum(o.count) FROM belfry.occurrences o WHERE o.schedule_id = s.id), 0)::bigint
		FROM belfry.schedules s WHERE s.name LIKE 'good-%'`)
	if err != nil {
		return err
	}
	var name string
	var behind float64
	var missing int64
	t.late, t.good = nil, 0
	_, err = pgx.ForEachRow(rows, []any{&name, &behind, &missing}, func() error {
		if t.good++; behind > schedulesBehind.Seconds() || missing < 0 || missing > 1 {
			t.late = append(t.late, fmt.Sprintf("schedule %s is %.1f s behind, %d instants are missing in its ledger", name, behind, missing))
		}
		return nil
	})
	return err
}

// schedulesBehind is how far behind a good schedule may be: a tick was frozen, or the database was just away.
const schedulesBehind = 15 * time.Second

// checkTrouble: what is at fault is named, and nobody else fails.
func (v *verdict) checkTrouble(t *trouble, events []event, byID map[int64][]core.Job, jobs map[int64]submitted) {
	for _, late := range t.late {
		v.fault("neighbours", "%s", late)
	}
	if t.good != goodSchedules {
		v.fault("neighbours", "%d of %d good schedules are there", t.good, goodSchedules)
	}
	innocent := maps.Clone(jobs)
	delete(innocent, t.poison.Load())
	v.checkFailed(byID, innocent, takenAlong(events))
	if t.strange == nil {
		return
	}
	for _, place := range named {
		if !slices.Contains(t.apart, fmt.Sprintf("job %d", t.places[place])) {
			v.fault("named", "job %d (%s) was not set apart: %v", t.places[place], place, t.apart)
		}
	}
	if !slices.Contains(t.apart, "unreadable "+namedSchedule) {
		v.fault("named", "no alert says that the schedule %s cannot be read: %v", namedSchedule, t.apart)
	}
	for id := range t.strange {
		if j := byID[id]; len(j) != 1 || !j[0].Status.Ended() {
			v.fault("neighbours", "the damaged job %d did not end once it was mended: %+v", id, j)
		}
	}
	poison := byID[t.poison.Load()]
	if len(poison) != 1 || poison[0].Status != core.Failed {
		v.fault("named", "the poison job was not ended as failed: %+v", poison)
		return
	}
	if n := len(poison[0].Errors); n == 0 || !strings.Contains(poison[0].Errors[n-1].Error, "quarantined") {
		v.fault("named", "the poison job does not say that it is quarantined: %+v", poison[0].Errors)
	}
}

// checkFailed: a job that is not at fault may fail for good only by kills, in five runs in a row. Few of those shorter than a
// second do, and none that the poison took along more often than it may.
func (v *verdict) checkFailed(byID map[int64][]core.Job, jobs map[int64]submitted, taken map[int64]int) {
	short := 0
	for id := range jobs {
		j := byID[id]
		if len(j) != 1 || j[0].Status != core.Failed {
			continue
		}
		v.counts["failed"]++
		var in struct{ MS int }
		if json.Unmarshal(j[0].Payload, &in) == nil && in.MS < 1000 {
			short++
		}
		if n := len(j[0].Errors); n == 0 || j[0].Errors[n-1].Losses != core.MaxLosses || taken[id] > maxTaken {
			v.fault("neighbours", "job %d of %d ms, which the poison took along %d times, failed for good: %+v", id, in.MS, taken[id], j[0].Errors)
		}
	}
	if v.counts["short failed"] = short; short > len(jobs)/1000+maxShortFailed {
		v.fault("neighbours", "%d jobs shorter than a second failed for good, of %d", short, len(jobs))
	}
}

const (
	maxTaken       = core.SuspectLosses + 1 // how often the poison may take one job along
	maxShortFailed = 5                      // besides one in a thousand
)

// takenAlong counts how often each job ran in a process when the poison ended it.
func takenAlong(events []event) map[int64]int {
	runs, taken := map[int]map[int64]bool{}, map[int64]int{}
	for _, e := range events {
		switch e.what {
		case "enter":
			if runs[e.pid] == nil {
				runs[e.pid] = map[int64]bool{}
			}
			runs[e.pid][e.i64(0)] = true
		case "leave":
			delete(runs[e.pid], e.i64(0))
		case "poisoned":
			for id := range runs[e.pid] {
				taken[id]++
			}
		}
	}
	return taken
}
