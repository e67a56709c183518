package sqlite

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// maxScheduleIn bounds TickResult.ScheduleIn.
const maxScheduleIn = time.Hour

// AdvanceSchedules takes schedules to their next states in one transaction.
func (s *Store) AdvanceSchedules(ctx context.Context, steps []core.Advance, fence []core.Held) ([]core.Advanced, error) {
	answers := make([]core.Advanced, len(steps))
	err := s.writer.run(ctx, func(t *tx) error {
		held, err := t.fence(fence)
		if err != nil {
			return err
		}
		for i := range steps {
			if answers[i], err = t.advance(&steps[i], held); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, wrap("advance schedules", err)
	}
	return answers, nil
}

// fence returns the buckets of a fence whose leases still stand, as bits; without a fence all of them.
func (t *tx) fence(fence []core.Held) (int64, error) {
	if fence == nil {
		return -1, nil
	}
	var standing []core.Held
	for _, h := range fence {
		token, ok, err := t.number("lease_token", h.Bucket, t.now)
		if err != nil {
			return 0, err
		}
		if ok && token == h.Token {
			standing = append(standing, h)
		}
	}
	return bits(standing), nil
}

// advance applies one step, or says that it is stale.
func (t *tx) advance(step *core.Advance, held int64) (core.Advanced, error) {
	stale := core.Advanced{Stale: true}
	found, err := t.row("get_schedule_by_id", step.ID)
	if err != nil || found == nil {
		return stale, err
	}
	now := found.schedule()
	if held>>core.BucketOf(now.ID)&1 == 0 || now.Version != step.Version || now.Moves != step.Moves || step.Inactive && now.Active {
		return stale, nil
	}
	answer := core.Advanced{Version: now.Version, JobIDs: make([]int64, len(step.Jobs))}
	if step.Rule != nil {
		changed := t.now
		if !step.State.Anchor.Equal(now.State.Anchor) { // its intervals count from then
			changed = micros(step.State.Anchor)
		}
		if err := t.redefine(now.ID, step.Rule, changed); err != nil {
			return stale, err
		}
		answer.Version = answer.Version%math.MaxInt64 + 1 // as in redefine_schedule
	}
	st := &step.State
	var waiting any
	if st.Waiting != nil {
		text, err := json.Marshal(st.Waiting)
		if err != nil {
			return stale, err
		}
		waiting = string(text)
	}
	_, err = t.exec("move_schedule", now.ID, timeOrNull(st.Anchor), micros(st.Accounted), timeOrNull(st.NextDue), waiting, timeOrNull(st.PausedAt), st.TZData, timeOrNull(st.ExpectBy), timeOrNull(st.Expected), number(st.Alerted))
	if err == nil && (st.ZoneMark != now.State.ZoneMark || st.Unreadable != now.State.Unreadable) {
		_, err = t.exec("mark_schedule", now.Tenant, now.Name, st.ZoneMark, number(st.Unreadable))
	}
	if err != nil {
		return stale, err
	}
	for i := range step.Jobs {
		if answer.JobIDs[i], err = t.submitRun(&now, &step.Jobs[i]); err != nil {
			return stale, err
		}
	}
	for _, a := range step.Alerts {
		a.Tenant, a.Subject = now.Tenant, now.Name
		if err := t.raise(&a); err != nil {
			return stale, err
		}
	}
	return answer, t.account(now.ID, step, answer.JobIDs)
}

func (t *tx) redefine(id int64, rule *core.ScheduleRule, now int64) error {
	text, err := json.Marshal(rule)
	if err != nil {
		return fmt.Errorf("rule: %w", err)
	}
	_, err = t.exec("redefine_schedule", id, string(text), textOrNull(rule.Payload), rule.Type, number(rule.Paused), number(rule.Exclusive()), now)
	return err
}

// submitRun writes a job that a schedule makes.
func (t *tx) submitRun(of *core.Schedule, job *core.NewJob) (int64, error) {
	payload, runAt := string(job.Payload), t.now
	if payload == "" {
		payload = "{}"
	}
	if !job.RunAt.IsZero() {
		runAt = micros(job.RunAt)
	}
	var schedule, scheduledFor, covers any
	if r := job.Run; r != nil {
		schedule, scheduledFor = of.Name, micros(r.ScheduledFor)
		text, err := core.EncodeCovers(r)
		if err != nil {
			return 0, err
		}
		covers = textOrNull(text)
	}
	id := t.w.nextID
	t.w.nextID++
	_, err := t.exec("submit_run", id, job.Type, payload, int64(cmp.Or(job.Priority, core.Default)), of.Tenant, runAt,
		cmp.Or(job.MaxAttempts, core.DefaultMaxAttempts), job.Timeout.Microseconds(), encodeBackoff(job.Backoff), textOrNull(job.Target), encode(job.Tags),
		t.now, schedule, scheduledFor, covers, timeOrNull(job.Expiry(instant(runAt))))
	return id, err
}

// account writes a step's ledger rows.
func (t *tx) account(id int64, step *core.Advance, jobs []int64) error {
	for i := range step.Occurrences {
		o, job := &step.Occurrences[i], int64(0)
		if o.Job >= 0 && o.Job < len(jobs) {
			job = jobs[o.Job]
		}
		if _, err := t.exec("put_occurrence", id, micros(o.From), micros(o.To), o.Count, o.Outcome, o.Reason, job, t.now); err != nil {
			return err
		}
	}
	if !step.Attach || len(jobs) == 0 || step.Jobs[0].Run == nil {
		return nil
	}
	run := step.Jobs[0].Run
	_, err := t.exec("attach_occurrence", id, micros(run.First()), micros(run.ScheduledFor), jobs[0])
	return err
}

// dueSchedules adds to a tick's result the schedules that need to be advanced.
func (t *tx) dueSchedules(req *core.TickRequest, res *core.TickResult) error {
	limit, page := req.ScheduleLimit, cmp.Or(req.WaitingLimit, req.ScheduleLimit)
	due, err := t.rows("due_schedules", t.now, bits(res.Held), int64(limit), req.WaitingAfter, int64(page))
	if err != nil {
		return err
	}
	res.Schedules = nil
	listed := map[int64]bool{}
	for _, r := range due {
		if listed[r.int(0)] || len(listed) >= limit {
			continue
		}
		listed[r.int(0)] = true
		_, err := t.alone(core.RowFault{Kind: core.ApartSchedule, ID: r.int(0), Act: "advance"}, func() error {
			found, err := t.row("get_schedule_by_id", r.int(0))
			if err != nil {
				return err
			}
			s := found.schedule()
			s.Active = s.Active && s.Rule.Exclusive()
			res.Schedules = append(res.Schedules, s)
			return nil
		})
		if err != nil {
			return err
		}
	}
	next, err := t.row("next_schedule", t.now, core.AlertJobFailed, bits(res.Held), req.WaitingAfter, int64(page-1))
	if err != nil {
		return err
	}
	res.ScheduleIn, res.Unsent = maxScheduleIn, next.int(1) != 0
	res.Failed, res.Failing = next.int(2) != 0, next.int(3) != 0
	res.WaitingTo, res.Untold = next.int(4), next.int(5) != 0
	if at := next.int(0); at != math.MaxInt64 {
		res.ScheduleIn = min(until(t.now, at), maxScheduleIn)
	}
	if len(res.Schedules) >= limit {
		res.ScheduleIn = 0
	}
	return nil
}
