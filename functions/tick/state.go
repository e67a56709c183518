package tick

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/tick"
)

const (
	statePeriod  = time.Minute      // between two records of one holder
	stateWindow  = time.Minute      // period of its counts of attempts
	stateTimeout = 10 * time.Second // for reading the numbers
)

// StateMessage is the log message with the state of the deployment. docs/metrics.md lists its fields.
const StateMessage = "state"

// stateLog writes the state of the deployment to the log, from which platforms make metrics. Only a tick with leases writes
// it, so that in a minute without a record no tick ran.
type stateLog struct {
	store   core.StatsStore
	log     *slog.Logger
	latest  *latest
	writing sync.WaitGroup
}

// latest holds the last record of a process, and when it was written or tried: invocations may follow each other within
// seconds.
type latest struct {
	mu    sync.Mutex
	at    time.Time
	stats *core.Stats // nil means that the last try failed, or that there was none
}

// due reports whether a record is due at now. If so, it counts as written.
func (l *latest) due(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.at.IsZero() && now.Sub(l.at) < statePeriod {
		return false
	}
	l.at = now
	return true
}

// keep stores the figures of a record; nil after one that could not be made.
func (l *latest) keep(stats *core.Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats = stats
}

// last returns the stored figures.
func (l *latest) last() *core.Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

// writeQuiet writes the record of a minute in which nothing was due, in flight or ended. Its figures on dead letters, open
// alerts and the server are from the last whole pass.
func writeQuiet(log *slog.Logger, last *core.Stats) {
	quiet := core.Stats{
		DeadLetters: last.DeadLetters, OpenAlerts: last.OpenAlerts, OldestSnapshot: last.OldestSnapshot, HistoryOverflow: last.HistoryOverflow,
	}
	for _, p := range core.Priorities {
		quiet.Queues = append(quiet.Queues, core.QueueStats{Priority: p})
	}
	log.Info(StateMessage, stateOf(&quiet)...)
}

// ticked is called after each successful pass, by one goroutine at a time. It must not block: a pass that takes longer than
// its leases loses them.
func (s *stateLog) ticked(ctx context.Context, r tick.Report) {
	if r.Held > 0 && s.latest.due(r.Now) {
		s.writing.Go(func() { s.write(ctx) })
	}
}

func (s *stateLog) write(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	stats, err := s.store.Stats(ctx, stateWindow)
	if err != nil {
		s.latest.keep(nil)
		s.log.Error("state not read", "error", err)
		return
	}
	s.latest.keep(&stats)
	s.log.Info(StateMessage, stateOf(&stats)...)
}

// stateOf returns the fields of the record: numbers for metrics, counted up to core.CountCap.
func stateOf(s *core.Stats) []any {
	var due, queued, running int
	fields := []any{}
	for _, p := range core.Priorities {
		for i := range s.Queues {
			q := &s.Queues[i]
			if q.Priority != p {
				continue
			}
			due, queued, running = due+q.Due, queued+q.Queued, running+q.Running
			fields = append(fields, "oldest_due_seconds_"+p.String(), max(q.OldestDue, 0).Seconds())
		}
	}
	open := 0
	for _, a := range s.OpenAlerts {
		open += a.Open
	}
	var failed, done int64
	for i := range s.Rollups {
		failed, done = failed+s.Rollups[i].Failed, done+s.Rollups[i].Done
	}
	return append(fields, "due", due, "queued", queued, "running", running, "stuck", s.Stuck, "unhandled", s.Unhandled,
		"dead_letters", s.DeadLetters, "failed", failed, "done", done, "open_alerts", open,
		"oldest_due_schedule_seconds", s.OldestDueSchedule.Seconds(), "oldest_snapshot_seconds", s.OldestSnapshot.Seconds(),
		"history_overflow", s.HistoryOverflow)
}
