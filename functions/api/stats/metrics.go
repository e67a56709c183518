package stats

import (
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/answer"
)

// The metrics. Counters count since the store's first job, so that they are right from any process and across
// restarts.
var (
	lagMetric         = metric("schedule_lag_seconds", "From run_at to the moment the handler is entered.", "priority")
	depthMetric       = metric("jobs", "Live jobs, counted up to 100000.", "priority", "status")
	dueMetric         = metric("due_jobs", "Scheduled jobs whose run_at has come, counted up to 100000.", "priority")
	oldestMetric      = metric("oldest_due_seconds", "How long the oldest due job has been due.", "priority")
	startsMetric      = metric("starts_total", "Attempts started.", "type")
	finishesMetric    = metric("finishes_total", "Jobs that have ended, by how.", "type", "status")
	failuresMetric    = metric("failures_total", "Attempts that ended in an error, retried or not.", "type")
	retriesMetric     = metric("retries_total", "Attempts that are followed by another one.", "type")
	lostMetric        = metric("lost_leases_total", "Attempts whose lease ran out.", "type")
	snoozesMetric     = metric("snoozes_total", "Attempts that asked for a later run.", "type")
	straysMetric      = metric("strays_total", "Messages that came to workers without a handler for the type, and were passed on.", "type")
	workersMetric     = metric("workers", "Workers that live: they announced themselves within 90 s.")
	slotsMetric       = metric("worker_slots", "Slots of live workers: jobs that they can run at once, and of these those that deliveries to targets may use.", "use")
	busySlotsMetric   = metric("worker_slots_busy", "Of these, slots in use, as workers said at most 30 s ago.", "use")
	typeWorkersMetric = metric("type_workers", "Live workers that have a handler for a type; 0 where jobs are due and no worker handles them.", "type")
	deadMetric        = metric("dead_letters", "Dead letters, counted up to 100000.")
	stuckMetric       = metric("stuck_jobs", "Running jobs whose lease has passed.")
	unhandled         = metric("unhandled_jobs", "Due jobs of types that no worker handles, counted up to 100000.")
	snapshotMetric    = metric("oldest_snapshot_seconds", "Age of the oldest open snapshot in the database.")
	lateMetric        = metric("oldest_due_schedule_seconds", "How long the most overdue schedule has been due.")
	alertsMetric      = metric("open_alerts", "Alerts that are not cleared, counted up to 100000.", "kind")
	statesMetric      = metric("schedules", "Schedules by state, counted up to 100000 and at most a minute ago; broken where this process ticks.", "state")
	outcomesMetric    = metric("occurrences_total", "Due instants that the tick of this process accounted for since it began.", "outcome")
	apartMetric       = metric("set_apart_rows", "Rows that raise an error and are set apart, so that they stop no other.", "kind")
	overflowMetric    = metric("history_overflow_jobs", "Finished jobs kept outside the partitions of their days.")
)

func metric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("belfry_"+name, help, labels, nil)
}

// snapshot makes one reading of the store a collector.
type snapshot struct {
	core.Stats
	states core.ScheduleStates
	counts *schedule.Counts // nil where no tick is in this process
}

// Describe names nothing: which series there are depends on the types there are.
func (snapshot) Describe(chan<- *prometheus.Desc) {}

// Collect sends the series.
func (s snapshot) Collect(out chan<- prometheus.Metric) {
	send := func(kind prometheus.ValueType, desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, kind, value, labels...)
	}
	for _, p := range core.Priorities {
		q := queueOf(s.Queues, p)
		send(prometheus.GaugeValue, depthMetric, float64(q.Scheduled), p.String(), core.Scheduled.String())
		send(prometheus.GaugeValue, depthMetric, float64(q.Queued), p.String(), core.Queued.String())
		send(prometheus.GaugeValue, depthMetric, float64(q.Running), p.String(), core.Running.String())
		send(prometheus.GaugeValue, dueMetric, float64(q.Due), p.String())
		send(prometheus.GaugeValue, oldestMetric, max(q.OldestDue, 0).Seconds(), p.String())
		out <- s.lag(p)
	}
	for _, t := range totalsOf(s.Stats) {
		name := t.Type
		send(prometheus.CounterValue, startsMetric, float64(t.Starts), name)
		send(prometheus.CounterValue, finishesMetric, float64(t.Done), name, core.Done.String())
		send(prometheus.CounterValue, finishesMetric, float64(t.Failed), name, core.Failed.String())
		send(prometheus.CounterValue, finishesMetric, float64(t.Cancelled), name, core.Cancelled.String())
		send(prometheus.CounterValue, failuresMetric, float64(t.Failed+t.Retried), name)
		send(prometheus.CounterValue, retriesMetric, float64(t.Retried), name)
		send(prometheus.CounterValue, lostMetric, float64(t.Lost), name)
		send(prometheus.CounterValue, snoozesMetric, float64(t.Snoozed), name)
		send(prometheus.CounterValue, straysMetric, float64(t.Strayed), name)
	}
	s.workers(send)
	s.schedules(send)
	send(prometheus.GaugeValue, deadMetric, float64(s.DeadLetters))
	send(prometheus.GaugeValue, stuckMetric, float64(s.Stuck))
	for _, kind := range s.apart() {
		send(prometheus.GaugeValue, apartMetric, float64(kind.Rows), kind.Kind)
	}
	send(prometheus.GaugeValue, unhandled, float64(s.Unhandled))
	send(prometheus.GaugeValue, snapshotMetric, s.OldestSnapshot.Seconds())
	send(prometheus.GaugeValue, overflowMetric, float64(s.HistoryOverflow))
}

// workers sends how many workers live, and how many of them have a handler for each type: none for types whose due jobs
// nobody handles.
func (s snapshot) workers(send func(kind prometheus.ValueType, desc *prometheus.Desc, value float64, labels ...string)) {
	send(prometheus.GaugeValue, workersMetric, float64(s.Workers))
	send(prometheus.GaugeValue, slotsMetric, float64(s.SlotUse.Slots), "all")
	send(prometheus.GaugeValue, slotsMetric, float64(s.SlotUse.DeliverySlots), "deliveries")
	send(prometheus.GaugeValue, busySlotsMetric, float64(s.SlotUse.Busy), "all")
	send(prometheus.GaugeValue, busySlotsMetric, float64(s.SlotUse.Deliveries), "deliveries")
	sums := map[string]TypeStats{}
	for _, h := range s.Handlers {
		sumType(sums, h.Type, TypeStats{Workers: h.N})
	}
	for _, u := range s.UnhandledTypes {
		sumType(sums, u.Type, TypeStats{Unhandled: u.N})
	}
	for _, t := range boundTypes(sums) {
		if t.Type != otherTypes {
			send(prometheus.GaugeValue, typeWorkersMetric, float64(t.Workers), t.Type)
		}
	}
}

// schedules sends the series of schedules and alerts. A schedule whose rule cannot be read has a next look ahead, so that
// the store counts it as active.
func (s snapshot) schedules(send func(kind prometheus.ValueType, desc *prometheus.Desc, value float64, labels ...string)) {
	send(prometheus.GaugeValue, lateMetric, s.OldestDueSchedule.Seconds())
	for _, a := range s.alerts() {
		send(prometheus.GaugeValue, alertsMetric, float64(a.Open), strings.ToValidUTF8(a.Kind, "\uFFFD"))
	}
	active := s.states.Active
	if s.counts != nil {
		broken := min(s.counts.Broken(s.Now), active)
		active -= broken
		send(prometheus.GaugeValue, statesMetric, float64(broken), "broken")
		for outcome, n := range s.counts.Outcomes() {
			send(prometheus.CounterValue, outcomesMetric, float64(n), outcome)
		}
	}
	send(prometheus.GaugeValue, statesMetric, float64(active), "active")
	send(prometheus.GaugeValue, statesMetric, float64(s.states.Paused), "paused")
	send(prometheus.GaugeValue, statesMetric, float64(s.states.Ended), "ended")
}

// alerts are the counts of all kinds, those of which none is open too: a series that goes away never falls to 0.
func (s snapshot) alerts() []core.AlertCount {
	all := slices.Clone(s.OpenAlerts)
	for _, kind := range []string{core.AlertScheduleMissed, core.AlertScheduleUnreadable, core.AlertTypeMissed, core.AlertJobFailed} {
		if !slices.ContainsFunc(all, func(a core.AlertCount) bool { return a.Kind == kind }) {
			all = append(all, core.AlertCount{Kind: kind})
		}
	}
	return all
}

// apart are the counts of rows that are set apart, of jobs and schedules those too of which none is.
func (s snapshot) apart() []core.ApartCount {
	all := slices.Clone(s.SetApart)
	for _, kind := range []string{core.ApartJob, core.ApartSchedule} {
		if !slices.ContainsFunc(all, func(c core.ApartCount) bool { return c.Kind == kind }) {
			all = append(all, core.ApartCount{Kind: kind})
		}
	}
	return all
}

// lag is one priority's histogram; Prometheus wants its buckets cumulative.
func (s snapshot) lag(p core.Priority) prometheus.Metric {
	hist := lagsOf(s.Totals)[p]
	buckets, count := make(map[float64]uint64, len(core.LagBounds)), uint64(0)
	for i, n := range hist {
		count += uint64(max(n, 0))
		if i < len(core.LagBounds) {
			buckets[core.LagBounds[i].Seconds()] = count
		}
	}
	sum := 0.0
	for _, r := range s.Totals {
		if r.Priority == p {
			sum += float64(r.LagSum) / 1e6
		}
	}
	return prometheus.MustNewConstHistogram(lagMetric, count, sum, buckets, p.String())
}

// metrics answers GET /metrics. Where the store does not answer the scrape fails whole, so that nobody takes
// old numbers for new ones.
func (a *Calls) metrics(w http.ResponseWriter, r *http.Request) error {
	stats, err := a.recent.get(r.Context())
	if err != nil {
		return err
	}
	states, err := a.states.get(r.Context())
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	if err := registry.Register(snapshot{stats, states, a.Counts}); err != nil {
		return err
	}
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return nil
}

// healthz answers GET /healthz: the process runs and answers.
func (a *Calls) healthz(w http.ResponseWriter, _ *http.Request) error {
	answer.JSON(w, http.StatusOK, []byte(`{"status":"ok"}`))
	return nil
}

// readyz answers GET /readyz: the store can accept jobs.
func (a *Calls) readyz(w http.ResponseWriter, r *http.Request) error {
	if a.Draining.Load() {
		return core.ErrStopping
	}
	if err := a.Stats.Ping(r.Context()); err != nil {
		if advice := core.AdviceOf(err); advice != "" {
			return answer.Unready(err, advice)
		}
		return err
	}
	answer.JSON(w, http.StatusOK, []byte(`{"status":"ok"}`))
	return nil
}
