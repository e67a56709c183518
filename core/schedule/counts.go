package schedule

import (
	"maps"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Counts counts the outcomes of due instants and the unreadable rules that this process's ticks met. The zero value is
// ready; nil counts nothing. It is safe for concurrent use.
type Counts struct {
	mu       sync.Mutex
	outcomes map[string]int64
	broken   map[int64]time.Time // when a tick last found the rule of a schedule unreadable
}

// Outcomes returns the number of due instants per outcome since the process started. Every outcome is included, even with
// zero.
func (c *Counts) Outcomes() map[string]int64 {
	all := map[string]int64{core.OccurrenceFired: 0, core.OccurrenceCaughtUp: 0, core.OccurrenceCovered: 0, core.OccurrenceSkipped: 0}
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.Copy(all, c.outcomes)
	return all
}

// Broken returns how many schedules of the buckets held here have an unreadable rule. Ticks check each of them again soon;
// one that was not met since then was mended, deleted or taken over by another scheduler.
func (c *Counts) Broken(now time.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.broken, func(_ int64, met time.Time) bool { return met.Add(2 * brokenEvery).Before(now) })
	return len(c.broken)
}

// Account counts new ledger rows.
func (c *Counts) Account(rows []core.Ledgered) {
	if c == nil || len(rows) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outcomes == nil {
		c.outcomes = map[string]int64{}
	}
	for i := range rows {
		c.outcomes[rows[i].Outcome] += rows[i].Count
	}
}

// Judge records whether the rule of a schedule could be read.
func (c *Counts) Judge(id int64, now time.Time, err error) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		delete(c.broken, id)
		return
	case c.broken == nil:
		c.broken = map[int64]time.Time{}
	}
	c.broken[id] = now
}
