// Package stats is the calls about the whole: counts, metrics, and whether it is well.
package stats

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/call"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// Calls are the calls about the whole: its numbers, its metrics, and whether it is well.
type Calls struct {
	*call.Base
	recent *recentStats
	states *recentStates
}

// New makes them.
func New(b *call.Base) *Calls {
	return &Calls{b, &recentStats{b.Stats, newReading[core.Stats]()}, &recentStates{b.Stats, newReading[core.ScheduleStates]()}}
}

// statsWindow is the period the rates and lags of /v1/stats are about.
const statsWindow = 5 * time.Minute

// statsAge is how old numbers may be: however many ask, the store counts once a second.
const statsAge = time.Second

// statesAge is how old the counts of schedules by state may be: to count them the store reads them all.
const statesAge = time.Minute

// recentStats is the store's numbers, at most statsAge old.
type recentStats struct {
	store core.StatsStore
	last  reading[core.Stats]
}

func (s *recentStats) get(ctx context.Context) (core.Stats, error) {
	return s.last.get(ctx, statsAge, func() (core.Stats, error) { return s.store.Stats(ctx, statsWindow) })
}

// recentStates is the store's schedules by state, at most statesAge old.
type recentStates struct {
	store core.StatsStore
	last  reading[core.ScheduleStates]
}

func (s *recentStates) get(ctx context.Context) (core.ScheduleStates, error) {
	return s.last.get(ctx, statesAge, func() (core.ScheduleStates, error) { return s.store.CountSchedules(ctx) })
}

// reading is what was last read of something. Callers that come while it is being read wait for that one answer, as long
// as their own time lasts.
type reading[T any] struct {
	turn  *semaphore.Weighted // of one
	value T
	at    time.Time
}

func newReading[T any]() reading[T] { return reading[T]{turn: semaphore.NewWeighted(1)} }

func (r *reading[T]) get(ctx context.Context, age time.Duration, read func() (T, error)) (T, error) {
	var none T
	if err := r.turn.Acquire(ctx, 1); err != nil {
		return none, err
	}
	defer r.turn.Release(1)
	if !r.at.IsZero() && time.Since(r.at) < age {
		return r.value, nil
	}
	if err := ctx.Err(); err != nil {
		return none, err
	}
	value, err := read()
	if err != nil {
		return none, err
	}
	r.value, r.at = value, time.Now()
	return value, nil
}

// Stats is the document of GET /v1/stats.
type Stats struct {
	Now             string       `json:"now" format:"date-time" doc:"The store's clock."`
	Window          string       `json:"window" doc:"The period that lags and counts by type are about." example:"5m0s"`
	Mode            string       `json:"mode" enum:"direct,queues" doc:"How workers get jobs: direct, they claim from the table; queues, the tick publishes to a queue per priority."`
	Queues          []QueueStats `json:"queues" doc:"One per priority, most urgent first."`
	Workers         int          `json:"workers" doc:"Workers that live: they announced themselves within 90 s."`
	Slots           SlotStats    `json:"slots" doc:"Slots of these workers, as they said at most 30 s ago, or 5 s where nearly all are in use."`
	Types           []TypeStats  `json:"types" doc:"What happened in the window, by type, and which types have workers; of very many types those with the most starts, and the others together as (other)."`
	DeadLetters     int          `json:"dead_letters"`
	Stuck           int          `json:"stuck" doc:"Running jobs whose lease has passed."`
	Unhandled       int          `json:"unhandled" doc:"Due jobs, queued ones included, of types that no worker handles; of types whose jobs workers only deliver, those without a target."`
	Capped          bool         `json:"capped,omitempty" doc:"Counting stopped at 100,000 for dead_letters or unhandled: there are that many or more."`
	OldestSnapshot  string       `json:"oldest_snapshot,omitempty" doc:"Age of the oldest open snapshot in the database: a long one slows everything down."`
	HistoryOverflow int          `json:"history_overflow" doc:"Finished jobs kept outside the partitions of their days."`
	SetApartRows    int          `json:"set_apart_rows,omitempty" doc:"Rows that raise an error and are set apart, so that they stop no other."`
	SetApart        []ApartRow   `json:"set_apart,omitempty" doc:"Some of these, those first that were met most often."`
}

// SlotStats is how many slots workers have, and how many are in use.
type SlotStats struct {
	All           int `json:"all" doc:"Jobs that they can run at once."`
	Busy          int `json:"busy" doc:"Of these, in use."`
	ForDeliveries int `json:"for_deliveries" doc:"Of these, slots that deliveries to targets may use."`
	Deliveries    int `json:"deliveries" doc:"Of those, in use."`
}

// QueueStats is one priority in numbers.
type QueueStats struct {
	Priority  string `json:"priority" enum:"critical,default,bulk"`
	Scheduled int    `json:"scheduled"`
	Due       int    `json:"due" doc:"Scheduled jobs whose run_at has come."`
	Queued    int    `json:"queued"`
	Running   int    `json:"running"`
	Capped    bool   `json:"capped,omitempty" doc:"Counting stopped at 100,000: there are that many or more."`
	OldestDue string `json:"oldest_due" doc:"How long the oldest due job has been due." example:"1.5s"`
	LagP50    string `json:"lag_p50" doc:"Median schedule lag of the jobs started in the window." example:"3ms"`
	LagP99    string `json:"lag_p99" example:"40ms"`
}

// TypeStats is what happened to the jobs of one type.
type TypeStats struct {
	Type      string `json:"type"`
	Starts    int64  `json:"starts"`
	Done      int64  `json:"done"`
	Failed    int64  `json:"failed"`
	Retried   int64  `json:"retried"`
	Cancelled int64  `json:"cancelled"`
	Lost      int64  `json:"lost" doc:"Attempts whose lease ran out."`
	Snoozed   int64  `json:"snoozed"`
	Strayed   int64  `json:"strayed" doc:"Messages that came to workers without a handler for the type, and were passed on."`
	Workers   int    `json:"workers" doc:"Live workers that have a handler for it; those that deliver to targets are not counted."`
	Unhandled int    `json:"unhandled,omitempty" doc:"Its due jobs, where no worker handles it."`
}

// showStats answers GET /v1/stats.
func (a *Calls) showStats(w http.ResponseWriter, r *http.Request) error {
	if err := a.NewParams(r, nil).Problem(); err != nil {
		return err
	}
	s, err := a.statsFor(r.Context())
	if err != nil {
		return err
	}
	doc := statsOf(s)
	doc.Mode = a.mode()
	if doc.SetApartRows > 0 {
		if doc.SetApart, err = a.apart(r.Context()); err != nil {
			return err
		}
	}
	body, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	answer.JSON(w, http.StatusOK, body)
	return nil
}

// The modes of an installation.
const (
	modeDirect = "direct"
	modeQueues = "queues"
)

func (a *Calls) mode() string {
	if a.Queues {
		return modeQueues
	}
	return modeDirect
}

// statsFor is the numbers that the caller may know: a tenant's token is told of that tenant's live jobs and dead
// letters, and no counts that cover all tenants.
func (a *Calls) statsFor(ctx context.Context) (core.Stats, error) {
	if tenant := access.CallerOf(ctx).Tenant; tenant != "" {
		return a.Stats.StatsOf(ctx, tenant)
	}
	return a.recent.get(ctx)
}

func statsOf(s core.Stats) Stats {
	doc := Stats{
		Now: s.Now.UTC().Format(show.TimeFormat), Window: statsWindow.String(), Queues: []QueueStats{}, Workers: s.Workers, Slots: slotsOf(s.SlotUse), Types: typesOf(s),
		DeadLetters: s.DeadLetters, Stuck: s.Stuck, Unhandled: s.Unhandled,
		Capped: s.DeadLetters >= core.CountCap || s.Unhandled >= core.CountCap, HistoryOverflow: s.HistoryOverflow,
	}
	if s.OldestSnapshot > 0 {
		doc.OldestSnapshot = s.OldestSnapshot.String()
	}
	for _, kind := range s.SetApart {
		doc.SetApartRows += kind.Rows
	}
	lags := lagsOf(s.Rollups)
	for _, p := range core.Priorities {
		q := queueOf(s.Queues, p)
		lag := lags[p]
		doc.Queues = append(doc.Queues, QueueStats{
			Priority: p.String(), Scheduled: q.Scheduled, Due: q.Due, Queued: q.Queued, Running: q.Running,
			Capped:    max(q.Scheduled, q.Due, q.Queued, q.Running) >= core.CountCap,
			OldestDue: max(q.OldestDue, 0).String(), LagP50: core.LagQuantile(lag, 0.50).String(), LagP99: core.LagQuantile(lag, 0.99).String(),
		})
	}
	return doc
}

// queueOf is one priority's numbers; a priority the store says nothing of is empty.
func queueOf(queues []core.QueueStats, p core.Priority) core.QueueStats {
	for _, q := range queues {
		if q.Priority == p {
			return q
		}
	}
	return core.QueueStats{Priority: p}
}

// lagsOf adds the histograms of each priority up.
func lagsOf(rollups []core.Rollup) map[core.Priority][core.LagBuckets]int64 {
	lags := map[core.Priority][core.LagBuckets]int64{}
	for _, r := range rollups {
		sum := lags[r.Priority]
		for i, n := range r.Lag {
			sum[i] += n
		}
		lags[r.Priority] = sum
	}
	return lags
}
