package recurrence_test

import (
	"time"

	"github.com/belfry-dev/belfry/core/recurrence"
)

// verdict is the outcome of one instant in the model below.
type verdict struct {
	at      time.Time
	outcome recurrence.Outcome
	reason  recurrence.Reason
	run     *recurrence.Run // the run made for it
}

// judge makes a plan the long way: instant by instant, directly from the rules of the design.
func judge(all []recurrence.Occurrence, state recurrence.State, now time.Time, policy recurrence.Policy) []verdict {
	verdicts := make([]verdict, 0, len(all))
	var missed []int // those that may be made up
	for _, o := range all {
		v := verdict{at: o.At, outcome: recurrence.Fired}
		paused := !state.PausedFrom.IsZero() && !o.At.Before(state.PausedFrom)
		if paused && state.PausedUntil.IsZero() {
			break
		}
		paused = paused && o.At.Before(state.PausedUntil)
		age := now.Sub(o.At)
		switch {
		case o.Dropped != "":
			v.outcome, v.reason = recurrence.Skipped, o.Dropped
		case !paused && age <= policy.Grace:
		case policy.Missed == recurrence.MissedSkip && paused:
			v.outcome, v.reason = recurrence.Skipped, recurrence.ReasonPaused
		case policy.Missed == recurrence.MissedSkip:
			v.outcome, v.reason = recurrence.Skipped, recurrence.ReasonMissed
		case policy.Window > 0 && age > policy.Window:
			v.outcome, v.reason = recurrence.Skipped, recurrence.ReasonWindow
		default:
			v.outcome = recurrence.CaughtUp
			missed = append(missed, len(verdicts))
		}
		verdicts = append(verdicts, v)
	}
	covered := 0
	for i, n := range missed {
		left := len(missed) - 1 - i
		if policy.Missed == recurrence.MissedAll && left >= policy.Limit {
			verdicts[n].outcome, verdicts[n].reason = recurrence.Skipped, recurrence.ReasonLimit
		}
		if policy.Missed == recurrence.MissedOnce && left > 0 {
			verdicts[n].outcome = recurrence.Covered
			covered++
		}
	}
	judgeOverlap(verdicts, state, policy, missed, covered)
	return verdicts
}

func judgeOverlap(verdicts []verdict, state recurrence.State, policy recurrence.Policy, missed []int, covered int) {
	newest := -1
	for i, v := range verdicts {
		if v.outcome == recurrence.Fired || v.outcome == recurrence.CaughtUp {
			newest = i
		}
	}
	active, waiting := state.Active, state.Waiting
	for i := range verdicts {
		v := &verdicts[i]
		if v.outcome != recurrence.Fired && v.outcome != recurrence.CaughtUp {
			continue
		}
		made := map[recurrence.OverlapPolicy]bool{
			recurrence.OverlapAllow:         true,
			recurrence.OverlapSkip:          !active && !waiting,
			recurrence.OverlapQueueOne:      !waiting,
			recurrence.OverlapCancelRunning: i == newest,
		}[policy.Overlap]
		late := v.outcome == recurrence.CaughtUp
		if !made {
			v.outcome, v.reason = recurrence.Skipped, recurrence.ReasonOverlap
			for _, n := range missed {
				if late && covered > 0 && verdicts[n].outcome == recurrence.Covered {
					verdicts[n].outcome, verdicts[n].reason = recurrence.Skipped, recurrence.ReasonOverlap
				}
			}
			continue
		}
		v.run = &recurrence.Run{ScheduledFor: v.at, CatchUp: late, Covers: 1, CoversFrom: v.at, CoversTo: v.at}
		if late && covered > 0 {
			v.run.Covers, v.run.CoversFrom = int64(covered+1), verdicts[missed[0]].at
		}
		v.run.Waits = policy.Overlap == recurrence.OverlapQueueOne && active
		v.run.CancelsPrevious = policy.Overlap == recurrence.OverlapCancelRunning && active
		waiting = waiting || v.run.Waits
		active = true
	}
}
