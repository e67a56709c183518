package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/tick"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/stats"
)

// someStats is a store with known numbers.
type someStats struct {
	core.StatsStore
	stats         core.Stats
	err           error
	reads, counts atomic.Int32
}

func (s *someStats) Stats(context.Context, time.Duration) (core.Stats, error) {
	s.reads.Add(1)
	return s.stats, s.err
}
func (s *someStats) CountSchedules(context.Context) (core.ScheduleStates, error) {
	s.counts.Add(1)
	return core.ScheduleStates{Active: 21, Paused: 22, Ended: 23}, s.err
}
func (s *someStats) Apart(_ context.Context, limit int) ([]core.RowFault, error) {
	var rows []core.RowFault
	for i := range min(limit, 25) {
		rows = append(rows, core.RowFault{Kind: core.ApartJob, ID: int64(i + 1), About: "mail.\xff", Act: "claim", Error: "missing chunk", Tries: 3, Since: at(1), RetryAt: at(9)})
	}
	return rows, nil
}
func (s *someStats) Ping(context.Context) error { return s.err }

// lag is a histogram of n jobs each, in the buckets named.
func lag(n int64, buckets ...int) (h [core.LagBuckets]int64) {
	for _, i := range buckets {
		h[i] += n
	}
	return h
}

func knownStats() core.Stats {
	return core.Stats{
		Now: at(0),
		Queues: []core.QueueStats{
			{Priority: core.Default, Scheduled: 7, Due: 3, Queued: 2, Running: 1, OldestDue: 1500 * time.Millisecond},
			{Priority: core.Bulk, Scheduled: core.CountCap, OldestDue: -time.Second},
		},
		Rollups: []core.Rollup{
			{Priority: core.Default, Type: "echo", Starts: 10, Done: 6, Failed: 1, Retried: 2, Cancelled: 1, Lost: 3, Snoozed: 4, Strayed: 8, Lag: lag(5, 0, 1)},
			{Priority: core.Bulk, Type: "", Starts: 1000, Lag: lag(1, 9)},
			{Priority: core.Bulk, Type: "echo", Starts: 1, Done: 1, Lag: lag(1, 9)},
			{Priority: core.Default, Type: "a/b.c:d", Starts: 1},
		},
		Totals: []core.Rollup{
			{Priority: core.Default, Type: "echo", Starts: 100, Done: 60, Failed: 10, Retried: 20, Cancelled: 10, Lost: 30, Snoozed: 40, Strayed: 80, Lag: lag(50, 0, core.LagBuckets-1), LagSum: 90_000_000},
			{Priority: core.Critical, Type: "echo", Starts: 1, Done: 1, Lag: lag(1, 0)},
			{Priority: core.Critical, Type: "", Starts: 1000, Lag: lag(6, 0), LagSum: 5_000_000},
			{Priority: core.Default, Type: `队列"\` + "\n\xff", Starts: 5},
			{Priority: core.Default, Type: `队列"\` + "\n\xfe", Starts: 6},
		},
		DeadLetters: 11, Stuck: 12, Unhandled: core.CountCap, OldestSnapshot: 13 * time.Second, HistoryOverflow: 14,
		Workers: 3, SlotUse: core.SlotUse{Slots: 40, Busy: 28, DeliverySlots: 20, Deliveries: 12}, Handlers: []core.TypeCount{{Type: "a/b.c:d", N: 2}, {Type: "idle", N: 1}}, UnhandledTypes: []core.TypeCount{{Type: "nobody's", N: 7}},
		OldestDueSchedule: 15 * time.Second, OpenAlerts: []core.AlertCount{{Kind: core.AlertScheduleMissed, Open: 16}, {Kind: "of an\xffother", Open: 17}},
	}
}

func TestStats(t *testing.T) {
	b := newBench(t, func(o *api.Options) { o.Stats, o.Queues = &someStats{stats: knownStats()}, true })
	got := decode[stats.Stats](t, b.do("GET", "/v1/stats", "").want(t, http.StatusOK))
	text, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want := stats.Stats{
		Now: "2026-03-01T12:00:00.120000Z", Window: "5m0s", Mode: "queues",
		Queues: []stats.QueueStats{
			{Priority: "critical", OldestDue: "0s", LagP50: "0s", LagP99: "0s"},
			{Priority: "default", Scheduled: 7, Due: 3, Queued: 2, Running: 1, OldestDue: "1.5s", LagP50: "1ms", LagP99: "1.98ms"},
			{Priority: "bulk", Scheduled: core.CountCap, Capped: true, OldestDue: "0s", LagP50: "750ms", LagP99: "995ms"},
		},
		Workers: 3, Slots: stats.SlotStats{All: 40, Busy: 28, ForDeliveries: 20, Deliveries: 12},
		Types: []stats.TypeStats{
			{Type: "a/b.c:d", Starts: 1, Workers: 2}, {Type: "echo", Starts: 11, Done: 7, Failed: 1, Retried: 2, Cancelled: 1, Lost: 3, Snoozed: 4, Strayed: 8},
			{Type: "idle", Workers: 1}, {Type: "nobody's", Unhandled: 7},
		},
		DeadLetters: 11, Stuck: 12, Unhandled: core.CountCap, Capped: true, OldestSnapshot: "13s", HistoryOverflow: 14,
	}
	wanted, err := json.MarshalIndent(want, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(wanted) {
		t.Errorf("got %s\nwant %s", text, wanted)
	}
}

func TestMetrics(t *testing.T) {
	stats := &someStats{stats: knownStats()}
	b := newBench(t, func(o *api.Options) { o.Stats = stats })
	a := b.do("GET", "/metrics", "").want(t, http.StatusOK)
	for _, want := range []string{
		`belfry_jobs{priority="default",status="queued"} 2`,
		`belfry_jobs{priority="bulk",status="scheduled"} 100000`,
		`belfry_due_jobs{priority="default"} 3`,
		`belfry_oldest_due_seconds{priority="default"} 1.5`,
		`belfry_oldest_due_seconds{priority="bulk"} 0`,
		`belfry_schedule_lag_seconds_bucket{priority="default",le="0.001"} 50`,
		`belfry_schedule_lag_seconds_bucket{priority="default",le="3600"} 50`,
		`belfry_schedule_lag_seconds_bucket{priority="default",le="+Inf"} 100`,
		`belfry_schedule_lag_seconds_sum{priority="default"} 90`,
		`belfry_schedule_lag_seconds_count{priority="critical"} 7`, `belfry_schedule_lag_seconds_sum{priority="critical"} 5`,
		`belfry_strays_total{type="echo"} 80`, `belfry_workers 3`, `belfry_worker_slots{use="all"} 40`, `belfry_worker_slots{use="deliveries"} 20`,
		`belfry_worker_slots_busy{use="all"} 28`, `belfry_worker_slots_busy{use="deliveries"} 12`, `belfry_type_workers{type="a/b.c:d"} 2`, `belfry_type_workers{type="nobody's"} 0`,
		`belfry_starts_total{type="echo"} 101`,
		`belfry_starts_total{type="队列\"\\\n` + "\uFFFD" + `"} 11`,
		`belfry_finishes_total{status="done",type="echo"} 61`,
		`belfry_finishes_total{status="failed",type="echo"} 10`,
		`belfry_finishes_total{status="cancelled",type="echo"} 10`,
		`belfry_failures_total{type="echo"} 30`,
		`belfry_retries_total{type="echo"} 20`,
		`belfry_lost_leases_total{type="echo"} 30`,
		`belfry_snoozes_total{type="echo"} 40`,
		`belfry_dead_letters 11`, `belfry_stuck_jobs 12`, `belfry_unhandled_jobs 100000`, `belfry_oldest_snapshot_seconds 13`, `belfry_history_overflow_jobs 14`,
		`belfry_oldest_due_schedule_seconds 15`, `belfry_open_alerts{kind="schedule_missed"} 16`, `belfry_open_alerts{kind="type_missed"} 0`,
		`belfry_open_alerts{kind="job_failed"} 0`, `belfry_open_alerts{kind="of an` + "\uFFFD" + `other"} 17`,
		`belfry_schedules{state="active"} 21`, `belfry_schedules{state="paused"} 22`, `belfry_schedules{state="ended"} 23`,
	} {
		if !strings.Contains(a.body, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if t.Failed() {
		t.Log(a.body)
	}
	for line := range strings.Lines(a.body) {
		if !strings.HasPrefix(line, "belfry_") && !strings.HasPrefix(line, "# ") {
			t.Errorf("a metric of another: %s", line)
		}
	}
	b.do("GET", "/metrics", "")
	b.do("GET", "/v1/stats", "")
	if n := stats.reads.Load(); n != 1 {
		t.Errorf("the store was asked %d times within a second", n)
	}
	if n := stats.counts.Load(); n != 1 {
		t.Errorf("schedules were counted %d times within a minute", n)
	}
	if strings.Contains(a.body, "belfry_occurrences_total{") || strings.Contains(a.body, `state="broken"`) {
		t.Error("no tick is here, but it counts")
	}
}

// However many types there are, the series are bounded: those with the most starts are told apart, and the sums stay whole.
func TestMetricsOfManyTypes(t *testing.T) {
	known := core.Stats{Now: at(0)}
	for i := range 3_000 {
		known.Totals = append(known.Totals, core.Rollup{Priority: core.Bulk, Type: fmt.Sprintf("type-%04d", i), Starts: int64(i), Done: 1})
		known.Rollups = known.Totals
		known.Handlers = append(known.Handlers, core.TypeCount{Type: fmt.Sprintf("type-%04d", i), N: 1})
	}
	known.UnhandledTypes = []core.TypeCount{{Type: "zzz", N: 1}}
	b := newBench(t, func(o *api.Options) { o.Stats = &someStats{stats: known} })
	body := b.do("GET", "/metrics", "").want(t, http.StatusOK).body
	for _, want := range []string{`belfry_starts_total{type="type-2500"} 2500`, `belfry_starts_total{type="(other)"} 3.12375e+06`, `belfry_finishes_total{status="done",type="(other)"} 2500`, `belfry_type_workers{type="zzz"} 0`} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	if n := strings.Count(body, "\n"); n > 10*501+200 {
		t.Errorf("%d lines", n)
	}
	stats := decode[stats.Stats](t, b.do("GET", "/v1/stats", "").want(t, http.StatusOK))
	if n := len(stats.Types); n != 501 || stats.Types[500].Type != "(other)" {
		t.Errorf("%d types are told", n)
	}
}

// What a tick of the same process counts: a schedule that fires, and one whose rule somebody damaged.
func TestMetricsOfATick(t *testing.T) {
	counts := &schedule.Counts{}
	b := newBench(t, func(o *api.Options) { o.Counts = counts })
	ticker, err := tick.New(b.store, tick.Options{Holder: "h", Counts: counts})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"whole", "damaged"} {
		b.do("PUT", "/v1/schedules/"+name, `{"every":"1h","type":"echo"}`).want(t, http.StatusCreated)
	}
	damaged, err := b.store.GetSchedule(t.Context(), "", "damaged")
	if err != nil {
		t.Fatal(err)
	}
	rule := damaged.Rule
	rule.Every, rule.Cron = 0, "no rule"
	if _, err := b.store.AdvanceSchedules(t.Context(), []core.Advance{{ID: damaged.ID, Version: damaged.Version, Moves: damaged.Moves, Rule: &rule, State: damaged.State}}, nil); err != nil {
		t.Fatal(err)
	}
	b.offset.Add((time.Hour + time.Second).Microseconds())
	if _, err := ticker.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	a := b.do("GET", "/metrics", "").want(t, http.StatusOK)
	for _, want := range []string{`belfry_occurrences_total{outcome="fired"} 1`, `belfry_occurrences_total{outcome="skipped"} 0`, `belfry_schedules{state="broken"} 1`, `belfry_schedules{state="active"} 1`} {
		if !strings.Contains(a.body, want+"\n") {
			t.Errorf("no %s in %s", want, a.body)
		}
	}
}

// The real store's numbers come through.
func TestMetricsOfAStore(t *testing.T) {
	b := newBench(t)
	b.submit(`{"type":"echo"}`)
	b.submit(`{"type":"fail"}`)
	b.end("fail", core.EndFail, "no")
	a := b.do("GET", "/metrics", "").want(t, http.StatusOK)
	for _, want := range []string{`belfry_jobs{priority="default",status="scheduled"} 1`, `belfry_due_jobs{priority="default"} 1`, `belfry_dead_letters 1`} {
		if !strings.Contains(a.body, want+"\n") {
			t.Errorf("no %s in %s", want, a.body)
		}
	}
	b.do("GET", "/v1/stats", "").want(t, http.StatusOK)
}

func TestHealth(t *testing.T) {
	stats := &someStats{err: core.ErrReadOnly}
	b := newBench(t, func(o *api.Options) { o.Stats = stats })
	b.do("GET", "/healthz", "").want(t, http.StatusOK)
	b.do("GET", "/readyz", "").want(t, http.StatusServiceUnavailable)
	b.do("GET", "/metrics", "").want(t, http.StatusServiceUnavailable)
	b.do("GET", "/v1/stats", "").want(t, http.StatusServiceUnavailable)
	stats.err = fmt.Errorf("postgres: ping: %w", core.Advise(core.ErrReadOnly, "the database role of this process may not write jobs: it lacks INSERT ON TABLE belfry.jobs"))
	if a := b.do("GET", "/readyz", ""); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "it lacks INSERT ON TABLE belfry.jobs") || strings.Contains(a.body, "postgres: ") {
		t.Errorf("what an operator can do is not said: %s", a.body)
	}
	if a := b.do("GET", "/v1/stats", "").want(t, http.StatusServiceUnavailable); strings.Contains(a.body, "belfry.jobs") {
		t.Errorf("a caller is told what is an operator's: %s", a.body)
	}
	stats.err = nil
	b.do("GET", "/readyz", "").want(t, http.StatusOK)
	newBench(t).do("GET", "/readyz", "").want(t, http.StatusOK)
}
