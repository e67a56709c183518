package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// AdvanceSchedules takes schedules to their next states in one transaction and one round trip; see core.ScheduleStore.
func (s *Store) AdvanceSchedules(ctx context.Context, steps []core.Advance, fence []core.Held) ([]core.Advanced, error) {
	answers := make([]core.Advanced, len(steps))
	if len(steps) == 0 {
		return answers, nil
	}
	a, err := s.advanceArgs(steps, fence)
	if err != nil {
		return nil, fmt.Errorf("postgres: advance schedules: %w", err)
	}
	first := make([]int, len(steps)) // place of each step's first job among all
	jobs := 0
	for i := range steps {
		answers[i].Stale = true
		first[i] = jobs
		jobs += len(steps[i].Jobs)
	}
	calls := []wire.Call{s.guard(s.opts.LockTimeout), s.sql.call("advance_schedules", a, func(r wire.Row) error {
		step, place := int(r.Int(0))-1, int(r.Int(2))
		answer := &answers[step]
		if place == 0 {
			answer.Stale, answer.Version = false, r.Int(1)
			answer.JobIDs = make([]int64, len(steps[step].Jobs))
			return nil
		}
		s.given.note(r.Int(3))
		answer.JobIDs[place-1-first[step]] = r.Int(3)
		return nil
	})}
	send := func() error { return s.send(ctx, calls...) }
	if fence == nil {
		calls[0] = s.guard(glanceWait)
		send = func() error { return s.sendWrite(ctx, "", calls...) }
	}
	return answers, wrap("advance schedules", s.withNewIDs(ctx, send))
}

// stepJob is a job of the step of that number, counted from 1.
type stepJob struct {
	*core.NewJob
	step int64
}

// stepRow is a ledger row of a step. base is how many jobs the steps before have.
type stepRow struct {
	*core.Ledgered
	step, base int64
}

// stepAlert is an alert that goes with a step.
type stepAlert struct {
	*core.Alert
	step int64
}

func (s *Store) advanceArgs(steps []core.Advance, fence []core.Held) (*wire.Args, error) {
	var jobs []stepJob
	var ledger []stepRow
	var alerts []stepAlert
	for i := range steps {
		base := int64(len(jobs))
		for j := range steps[i].Jobs {
			jobs = append(jobs, stepJob{&steps[i].Jobs[j], int64(i + 1)})
		}
		for j := range steps[i].Occurrences {
			ledger = append(ledger, stepRow{&steps[i].Occurrences[j], int64(i + 1), base})
		}
		for j := range steps[i].Alerts {
			alerts = append(alerts, stepAlert{&steps[i].Alerts[j], int64(i + 1)})
		}
	}
	a := s.args(52)
	wire.Int8s(a, fence, func(h *core.Held) int64 { return int64(h.Bucket) })
	wire.Int8s(a, fence, func(h *core.Held) int64 { return h.Token })
	a.Bool(fence == nil)
	if err := stepArgs(a, steps); err != nil {
		return nil, err
	}
	if err := runArgs(a, jobs); err != nil {
		return nil, err
	}
	wire.Int8s(a, ledger, func(l *stepRow) int64 { return l.step })
	wire.Int8sOrNull(a, ledger, func(l *stepRow) int64 {
		if l.Job < 0 {
			return 0
		}
		return l.base + int64(l.Job) + 1
	})
	wire.Times(a, ledger, func(l *stepRow) time.Time { return l.From })
	wire.Times(a, ledger, func(l *stepRow) time.Time { return l.To })
	wire.Int8s(a, ledger, func(l *stepRow) int64 { return l.Count })
	wire.Texts(a, ledger, func(l *stepRow) string { return l.Outcome })
	wire.TextsOrNull(a, ledger, func(l *stepRow) string { return l.Reason })
	wire.JSONs(a, steps, func(st *core.Advance) []byte { return ruleOf(st).Payload })
	wire.Int8s(a, alerts, func(al *stepAlert) int64 { return al.step })
	wire.Texts(a, alerts, func(al *stepAlert) string { return al.Kind })
	wire.Texts(a, alerts, func(al *stepAlert) string { return al.Detail })
	wire.Bools(a, alerts, func(al *stepAlert) bool { return clears(al.Alert) })
	wire.Bools(a, alerts, func(al *stepAlert) bool { return momentary(al.Alert) })
	wire.Times(a, jobs, func(j *stepJob) time.Time { return j.Expiry(j.RunAt) })
	wire.TextsOrNull(a, steps, func(st *core.Advance) string { return st.State.ZoneMark })
	wire.BoolsOrNull(a, steps, func(st *core.Advance) bool { return st.State.Unreadable })
	return a.Int8(s.given.highest.Load()), nil
}

// stepArgs encodes the new states, and the new rules of those that get one.
func stepArgs(a *wire.Args, steps []core.Advance) error {
	rules, waiting := make([][]byte, len(steps)), make([][]byte, len(steps))
	for i := range steps {
		var err error
		if steps[i].Rule != nil {
			if rules[i], err = json.Marshal(steps[i].Rule); err != nil {
				return err
			}
		}
		if steps[i].State.Waiting != nil {
			if waiting[i], err = json.Marshal(steps[i].State.Waiting); err != nil {
				return err
			}
		}
	}
	at, next := 0, 0
	wire.Int8s(a, steps, func(st *core.Advance) int64 { return st.ID })
	wire.Int8s(a, steps, func(st *core.Advance) int64 { return st.Version })
	wire.Int8s(a, steps, func(st *core.Advance) int64 { return st.Moves })
	wire.BoolsOrNull(a, steps, func(st *core.Advance) bool { return st.Inactive })
	wire.JSONs(a, steps, func(*core.Advance) []byte { at++; return rules[at-1] })
	wire.TextsOrNull(a, steps, func(st *core.Advance) string { return ruleOf(st).Type })
	wire.BoolsOrNull(a, steps, func(st *core.Advance) bool { return ruleOf(st).Paused })
	wire.BoolsOrNull(a, steps, func(st *core.Advance) bool { return ruleOf(st).Exclusive() })
	for _, of := range []func(*core.ScheduleState) time.Time{
		func(st *core.ScheduleState) time.Time { return st.Anchor },
		func(st *core.ScheduleState) time.Time { return st.Accounted },
		func(st *core.ScheduleState) time.Time { return st.NextDue },
		func(st *core.ScheduleState) time.Time { return st.PausedAt },
	} {
		wire.Times(a, steps, func(step *core.Advance) time.Time { return of(&step.State) })
	}
	wire.TextsOrNull(a, steps, func(st *core.Advance) string { return st.State.TZData })
	wire.Times(a, steps, func(st *core.Advance) time.Time { return st.State.ExpectBy })
	wire.Times(a, steps, func(st *core.Advance) time.Time { return st.State.Expected })
	wire.BoolsOrNull(a, steps, func(st *core.Advance) bool { return st.State.Alerted })
	wire.JSONs(a, steps, func(*core.Advance) []byte { next++; return waiting[next-1] })
	wire.Times(a, steps, func(st *core.Advance) time.Time { return attached(st).first })
	wire.Times(a, steps, func(st *core.Advance) time.Time { return attached(st).last })
	return nil
}

// instants are the first and the last of a run.
type instants struct{ first, last time.Time }

// attached are the instants of a step's first job whose ledger rows get it; zero where none do.
func attached(st *core.Advance) instants {
	if !st.Attach || len(st.Jobs) == 0 || st.Jobs[0].Run == nil {
		return instants{}
	}
	r := st.Jobs[0].Run
	return instants{r.First(), r.ScheduledFor}
}

// ruleOf is a step's new rule, or an empty one.
func ruleOf(st *core.Advance) *core.ScheduleRule {
	if st.Rule == nil {
		return &core.ScheduleRule{}
	}
	return st.Rule
}

// runArgs encodes the jobs that the steps make.
func runArgs(a *wire.Args, jobs []stepJob) error {
	covers := make([][]byte, len(jobs))
	for i, j := range jobs {
		text, err := core.EncodeCovers(j.Run)
		if err != nil {
			return err
		}
		covers[i] = text
	}
	at := 0
	wire.Int8s(a, jobs, func(j *stepJob) int64 { return j.step })
	wire.Texts(a, jobs, func(j *stepJob) string { return j.Type })
	wire.JSONs(a, jobs, func(j *stepJob) []byte {
		if len(j.Payload) == 0 {
			return []byte("{}")
		}
		return j.Payload
	})
	wire.Int2s(a, jobs, func(j *stepJob) int16 { return int16(cmp.Or(j.Priority, core.Default)) })
	wire.Times(a, jobs, func(j *stepJob) time.Time { return j.RunAt })
	wire.Int4s(a, jobs, func(j *stepJob) int { return cmp.Or(j.MaxAttempts, core.DefaultMaxAttempts) })
	wire.Int8sOrNull(a, jobs, func(j *stepJob) int64 { return j.Timeout.Microseconds() })
	wire.TextsOrNull(a, jobs, func(j *stepJob) string { return durationsLiteral(j.Backoff) })
	wire.JSONs(a, jobs, func(j *stepJob) []byte { return j.Target })
	wire.TextsOrNull(a, jobs, func(j *stepJob) string { return textsLiteral(j.Tags) })
	wire.Times(a, jobs, func(j *stepJob) time.Time {
		if j.Run == nil {
			return time.Time{}
		}
		return j.Run.ScheduledFor
	})
	wire.JSONs(a, jobs, func(*stepJob) []byte { at++; return covers[at-1] })
	return nil
}
