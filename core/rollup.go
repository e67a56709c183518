package core

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"sync"
	"time"
)

const (
	rollupShards = 16
	rollupEvery  = time.Second
)

// rollups counts starts and ends in memory, per minute of the store, priority and type.
type rollups struct {
	shard int
	mu    sync.Mutex
	rows  map[rollupKey]*Rollup
	key   rollupKey // of last
	last  *Rollup   // the row that was counted in last: mostly the next one too
}

type rollupKey struct {
	minute   int64
	priority Priority
	typ      string
}

// newRollups returns counts that are written to the shard of the process named id.
func newRollups(id string) *rollups { return &rollups{shard: shardOf(id)} }

// shardOf spreads processes over the shards, so that they do not wait for one another's rows.
func shardOf(worker string) int {
	h := fnv.New32a()
	h.Write([]byte(worker))
	return int(h.Sum32() % rollupShards)
}

// row returns the counts of a lane in the minute of at. A damaged priority counts as the default one. mu is held.
func (r *rollups) row(priority Priority, typ string, at time.Time) *Rollup {
	if !priority.Valid() {
		priority = Default
	}
	key := rollupKey{at.Unix() / 60, priority, typ}
	if r.last != nil && key == r.key {
		return r.last
	}
	row := r.rows[key]
	if row == nil {
		if r.rows == nil {
			r.rows = map[rollupKey]*Rollup{}
		}
		row = &Rollup{Minute: time.Unix(key.minute*60, 0).UTC(), Priority: priority, Type: typ}
		r.rows[key] = row
	}
	r.key, r.last = key, row
	return row
}

// started counts a handler entered at the store's time at, so long after its job was due.
func (r *rollups) started(priority Priority, typ string, at time.Time, lag time.Duration) {
	lag = max(lag, 0)
	r.mu.Lock()
	defer r.mu.Unlock()
	row := r.row(priority, typ, at)
	row.Starts++
	row.LagSum += min(lag, MaxLagCounted).Microseconds()
	row.Lag[LagBucket(lag)]++
}

// strayed counts a job that was given away, near the local moment at.
func (r *rollups) strayed(priority Priority, typ string, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.row(priority, typ, at).Strayed++
}

// ended counts one end that the store recorded near its time at.
func (r *rollups) ended(priority Priority, typ string, at time.Time, status Status, outcome Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	count(r.row(priority, typ, at), status, outcome)
}

// lost counts attempts that the reaper ended at the store's time at.
func (r *rollups) lost(jobs []Job, ends []End, answers []EndAnswer, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range answers {
		if answers[i].Stale || answers[i].Busy {
			continue
		}
		row := r.row(jobs[i].Priority, jobs[i].Type, at)
		row.Lost++
		count(row, answers[i].Status, ends[i].Outcome)
	}
}

// count adds the end of one attempt.
func count(r *Rollup, status Status, outcome Outcome) {
	switch {
	case status == Done:
		r.Done++
	case status == Failed:
		r.Failed++
	case status == Cancelled:
		r.Cancelled++
	case status == Scheduled && (outcome == EndRetry || outcome == EndLoss):
		r.Retried++
	case status == Scheduled && outcome == EndSnooze:
		r.Snoozed++
	}
}

// take empties the counts, in an order that all processes share so that they cannot deadlock.
func (r *rollups) take() []Rollup {
	r.mu.Lock()
	rows := r.rows
	r.rows, r.last = nil, nil
	r.mu.Unlock()
	taken := make([]Rollup, 0, len(rows))
	for _, row := range rows {
		taken = append(taken, *row)
	}
	slices.SortFunc(taken, func(a, b Rollup) int {
		return cmp.Or(a.Minute.Compare(b.Minute), cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Type, b.Type))
	})
	return taken
}

// giveBack merges counts that failed to be written into the current ones.
func (r *rollups) giveBack(rows []Rollup) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range rows {
		row := r.row(rows[i].Priority, rows[i].Type, rows[i].Minute)
		row.Add(&rows[i])
	}
}

// flush writes the counts. Those of a call that failed are kept; one whose answer was lost may count twice, which
// statistics bear better than a gap.
func (r *rollups) flush(ctx context.Context, store rollupStore) {
	rows := r.take()
	if len(rows) == 0 {
		return
	}
	places := make([]int, len(rows))
	for i := range places {
		places[i] = i
	}
	err := Halve(ctx, places, func(part []int) error {
		err := store.AddRollups(ctx, r.shard, pick(rows, part))
		if err == nil {
			for _, i := range part {
				rows[i].Minute = time.Time{}
			}
		}
		return err
	}, func(i int, _ error) error { rows[i].Minute = time.Time{}; return nil }) // a count that is damaged is beyond help
	if err != nil {
		r.giveBack(slices.DeleteFunc(rows, func(row Rollup) bool { return row.Minute.IsZero() }))
	}
}

// rollupStore is where counts are written.
type rollupStore interface {
	AddRollups(ctx context.Context, shard int, rows []Rollup) error
}
