package work

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// How a worker admits suspects. It begins with one at a time. Each suspect that ends normally, or has run for suspectFor,
// allows one more at the same time, up to maxSuspects: the process survived it, so the suspects were more likely lost
// because of another job. A job lost more than SuspectLosses times in a row never runs beside another such job. So a job
// that kills processes costs an innocent suspect at most one more loss by running beside it.
//
// A suspect that is not admitted is running, for the store, from its claim until its hand back is recorded. If the process dies
// in that moment, the suspect is lost, and counted, though its handler was never entered. That can happen at each death. So
// nothing but chance keeps an innocent suspect from MaxLosses: the moment is a few milliseconds, and turns are random.
const (
	maxSuspects    = 8
	suspectFor     = 5 * time.Minute
	suspectGuess   = 100 * time.Millisecond // assumed duration of a suspect before one has ended
	minSuspectTurn = 100 * time.Millisecond // between turns; on average half of it
	minSuspectWait = 100 * time.Millisecond // of a suspect that is handed back
	maxSuspectWait = 5 * time.Minute
)

// suspects are the suspects that run in one process, and the turns of those handed back. Worker.mu guards it.
type suspects struct {
	running  []suspectRun
	outlived int           // suspects that the process survived
	takes    time.Duration // recent duration of a suspect; 0: none has ended
	turns    [2]time.Time  // when the last suspect handed back is due again: a new suspect; one that was lost more often
}

type suspectRun struct {
	a        *attempt
	since    time.Time
	repeated int
}

// repeated returns 1 if a suspect was lost again after it became one, else 0: an index of suspects.turns.
func repeated(j *core.Job) int {
	if j.Losses() > core.SuspectLosses {
		return 1
	}
	return 0
}

// admit reports whether a suspect may run now. If it may not, wait is when to try it again, chance in [0, 1): turns follow
// each other four times as fast as suspects end, so that no place stays empty because a suspect was quick.
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
		pace /= maxSuspects // this many will be admitted soon, unless one of them kills the process
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

// pace is the expected duration of a suspect: the recent one, or how long the running suspect has taken if that is longer.
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

// forget drops suspects that have ended or have run for long.
func (s *suspects) forget(now time.Time) {
	s.running = slices.DeleteFunc(s.running, func(run suspectRun) bool {
		long := now.Sub(run.since) >= suspectFor
		if long && run.a.phase == phaseRunning {
			s.outlived++
		}
		return long || run.a.phase != phaseRunning
	})
}

// ended notes that the handler of an attempt returned: if it was a suspect, the process survived it.
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
