package work

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// How a worker lets suspects in. It begins with one at a time. Each suspect that ends by itself, or has run for suspectFor,
// lets one more run beside it, up to maxSuspects: the process outlived it, so the suspects at hand were more likely lost with
// something else. A job lost more than SuspectLosses times in a row runs beside no other such job, however many suspects
// ended well. So one job that ends processes costs an innocent one at most one loss more than made it a suspect.
const (
	maxSuspects    = 8
	suspectFor     = 5 * time.Minute
	suspectGuess   = 100 * time.Millisecond // what a suspect takes, before one has ended
	minSuspectTurn = 100 * time.Millisecond // from one turn to the next; half of it on average
	minSuspectWait = 100 * time.Millisecond // of one that is turned away
	maxSuspectWait = 5 * time.Minute
)

// suspects are those that run in one process, and the turns of those that wait elsewhere for it. Worker.mu guards it.
type suspects struct {
	running  []suspectRun
	outlived int           // suspects that the process outlived
	takes    time.Duration // what one takes, of late; 0: none has ended
	turns    [2]time.Time  // when the last one that was turned away comes back: a fresh suspect, one lost more often
}

type suspectRun struct {
	a        *attempt
	since    time.Time
	repeated int
}

// repeated reports whether a suspect was lost again after it became one, as an index of suspects.turns.
func repeated(j *core.Job) int {
	if j.Losses() > core.SuspectLosses {
		return 1
	}
	return 0
}

// admit reports whether a suspect may run now. If it may not, wait is when to try it again, chance in [0, 1): turns follow
// each other four times as fast as suspects end, so that no place is left empty because one takes less than those before.
func (s *suspects) admit(a *attempt, now time.Time, chance float64) (wait time.Duration, ok bool) {
	s.forget(now)
	again, beside := repeated(&a.job), 0
	for _, run := range s.running {
		beside += run.repeated
	}
	if len(s.running) < s.limit() && (again == 0 || beside == 0) {
		s.running = append(s.running, suspectRun{a, now, again})
		return 0, true
	}
	pace := s.pace(now)
	if again == 0 {
		pace /= maxSuspects // so many will be let in soon, unless one of them ends the process
	}
	turn := &s.turns[again]
	if turn.Before(now) {
		*turn = now
	}
	*turn = turn.Add(time.Duration(float64(max(pace/2, minSuspectTurn)) * min(max(chance, 0), 1)))
	if wait = turn.Sub(now); wait > maxSuspectWait {
		*turn = now.Add(maxSuspectWait)
		wait = time.Duration(float64(maxSuspectWait) * (0.5 + chance/2))
	}
	return max(wait, minSuspectWait), false
}

// limit is how many suspects may run at once.
func (s *suspects) limit() int { return min(1+s.outlived, maxSuspects) }

// pace is what a suspect takes: of late, or as long as the one that runs has taken if that is longer.
func (s *suspects) pace(now time.Time) time.Duration {
	pace := s.takes
	if pace == 0 {
		pace = suspectGuess
	}
	for _, run := range s.running {
		pace = max(pace, now.Sub(run.since))
	}
	return pace
}

// forget drops those that run no more or have run for long.
func (s *suspects) forget(now time.Time) {
	s.running = slices.DeleteFunc(s.running, func(run suspectRun) bool {
		long := now.Sub(run.since) >= suspectFor
		if long && run.a.phase == phaseRunning {
			s.outlived++
		}
		return long || run.a.phase != phaseRunning
	})
}

// ended takes in that the handler of an attempt returned: if it was a suspect, the process outlived it.
func (s *suspects) ended(a *attempt, now time.Time) {
	i := slices.IndexFunc(s.running, func(run suspectRun) bool { return run.a == a })
	if i < 0 {
		return
	}
	took := now.Sub(s.running[i].since)
	if s.takes == 0 {
		s.takes = took
	}
	s.takes += (took - s.takes) / 4
	s.outlived++
	s.running = slices.Delete(s.running, i, i+1)
}
