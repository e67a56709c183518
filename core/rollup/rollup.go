// Package rollup counts starts and ends in memory, and writes the counts to the store.
package rollup

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
)

const (
	rollupShards = 16
	Every        = time.Second
)

// Counts counts starts and ends in memory by minute (store's clock), priority and type.
type Counts struct {
	shard int
	mu    sync.Mutex
	rows  map[rollupKey]*core.Rollup
	key   rollupKey    // of last
	last  *core.Rollup // the row of the last count, which the next one usually needs too
}

type rollupKey struct {
	minute   int64
	priority core.Priority
	typ      string
}

// New returns Counts that are written to the shard of the process called id.
func New(id string) *Counts { return &Counts{shard: shardOf(id)} }

// shardOf spreads processes over the shards, so that they do not wait for each other's row locks.
func shardOf(worker string) int {
	h := fnv.New32a()
	h.Write([]byte(worker))
	return int(h.Sum32() % rollupShards)
}

// row returns the counts of a lane in the minute of at. An invalid priority counts as the default one. The caller holds mu.
func (r *Counts) row(priority core.Priority, typ string, at time.Time) *core.Rollup {
	if !priority.Valid() {
		priority = core.Default
	}
	key := rollupKey{at.Unix() / 60, priority, typ}
	if r.last != nil && key == r.key {
		return r.last
	}
	row := r.rows[key]
	if row == nil {
		if r.rows == nil {
			r.rows = map[rollupKey]*core.Rollup{}
		}
		row = &core.Rollup{Minute: time.Unix(key.minute*60, 0).UTC(), Priority: priority, Type: typ}
		r.rows[key] = row
	}
	r.key, r.last = key, row
	return row
}

// Started counts a run whose handler was entered at the store's time at, lag after its job was due.
func (r *Counts) Started(priority core.Priority, typ string, at time.Time, lag time.Duration) {
	lag = max(lag, 0)
	r.mu.Lock()
	defer r.mu.Unlock()
	row := r.row(priority, typ, at)
	row.Starts++
	row.LagSum += min(lag, core.MaxLagCounted).Microseconds()
	row.Lag[core.LagBucket(lag)]++
}

// Strayed counts a job that was returned because this worker has no handler for it. at is the local time.
func (r *Counts) Strayed(priority core.Priority, typ string, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.row(priority, typ, at).Strayed++
}

// Ended counts one end, which the store recorded at about its time at.
func (r *Counts) Ended(priority core.Priority, typ string, at time.Time, status core.Status, outcome core.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	count(r.row(priority, typ, at), status, outcome)
}

// Lost counts the attempts that the reaper ended at the store's time at.
func (r *Counts) Lost(jobs []core.Job, ends []core.End, answers []core.EndAnswer, at time.Time) {
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
func count(r *core.Rollup, status core.Status, outcome core.Outcome) {
	switch {
	case status == core.Done:
		r.Done++
	case status == core.Failed:
		r.Failed++
	case status == core.Cancelled:
		r.Cancelled++
	case status == core.Scheduled && (outcome == core.EndRetry || outcome == core.EndLoss):
		r.Retried++
	case status == core.Scheduled && outcome == core.EndSnooze:
		r.Snoozed++
	}
}

// take removes and returns all counts, sorted: processes that write in the same order cannot deadlock.
func (r *Counts) take() []core.Rollup {
	r.mu.Lock()
	rows := r.rows
	r.rows, r.last = nil, nil
	r.mu.Unlock()
	taken := make([]core.Rollup, 0, len(rows))
	for _, row := range rows {
		taken = append(taken, *row)
	}
	slices.SortFunc(taken, func(a, b core.Rollup) int {
		return cmp.Or(a.Minute.Compare(b.Minute), cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Type, b.Type))
	})
	return taken
}

// giveBack merges counts that failed to be written into the current ones.
func (r *Counts) giveBack(rows []core.Rollup) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range rows {
		row := r.row(rows[i].Priority, rows[i].Type, rows[i].Minute)
		row.Add(&rows[i])
	}
}

// Flush writes the counts and keeps those that failed to be written. If a write's answer was lost, its counts may be added
// twice; for statistics this is better than a gap.
func (r *Counts) Flush(ctx context.Context, store Store) {
	rows := r.take()
	if len(rows) == 0 {
		return
	}
	places := make([]int, len(rows))
	for i := range places {
		places[i] = i
	}
	err := apart.Halve(ctx, places, func(part []int) error {
		err := store.AddRollups(ctx, r.shard, apart.Pick(rows, part))
		if err == nil {
			for _, i := range part {
				rows[i].Minute = time.Time{}
			}
		}
		return err
	}, func(i int, _ error) error { rows[i].Minute = time.Time{}; return nil }) // an invalid count is dropped
	if err != nil {
		r.giveBack(slices.DeleteFunc(rows, func(row core.Rollup) bool { return row.Minute.IsZero() }))
	}
}

// Store writes counts.
type Store interface {
	AddRollups(ctx context.Context, shard int, rows []core.Rollup) error
}
