package decide

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func lostErrors(n int) (list []core.AttemptError) {
	for i := range n {
		list = append(list, core.AttemptError{Attempt: 1, Kind: core.KindLost, Losses: i + 1})
	}
	return list
}

// TestDecideLost: expired leases cost one attempt in total and have a budget of their own.
func TestDecideLost(t *testing.T) {
	failed := core.AttemptError{Attempt: 1, Error: "before", Kind: core.KindError}
	for _, c := range []struct {
		name          string
		attempts, max int
		worker        string
		errors        []core.AttemptError
		outcome       core.Outcome
		kind          string
		losses        int
	}{
		{"the first", 1, 5, "w", nil, core.EndRetry, core.KindLost, 1},
		{"the first, after an error", 2, 5, "w", []core.AttemptError{failed}, core.EndRetry, core.KindLost, 1},
		{"the first, on the last attempt", 5, 5, "w", []core.AttemptError{failed}, core.EndLoss, core.KindLost, 1},
		{"the first of a job of one attempt", 1, 1, "w", nil, core.EndFail, core.KindLost, 1},
		{"the second in a row", 2, 5, "w", lostErrors(1), core.EndLoss, core.KindLost, 2},
		{"one more, after an error", 3, 5, "w", append(lostErrors(3), failed), core.EndLoss, core.KindLost, 1},
		{"the last but one", 2, 5, "w", lostErrors(core.MaxLosses - 2), core.EndLoss, core.KindLost, core.MaxLosses - 1},
		{"the last", 2, 5, "w", lostErrors(core.MaxLosses - 1), core.EndFail, core.KindLost, core.MaxLosses},
		{"the last, with attempts to spare", 2, 100, "w", lostErrors(core.MaxLosses - 1), core.EndFail, core.KindLost, core.MaxLosses},
		{"one more after it was put back by hand", 1, 5, "w", lostErrors(core.MaxLosses), core.EndFail, core.KindLost, core.MaxLosses + 1},
		{"of a target", 1, 5, core.TargetWorkerID, nil, core.EndRetry, core.KindTimeout, 0},
		{"of a target, on the last attempt", 5, 5, core.TargetWorkerID, lostErrors(1), core.EndFail, core.KindTimeout, 0},
		{"counted by hand", 2, 5, "w", []core.AttemptError{{Kind: core.KindLost, Losses: -7}}, core.EndLoss, core.KindLost, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := core.Job{ID: 7, LeaseToken: 3, Attempts: c.attempts, MaxAttempts: c.max, WorkerID: c.worker, Errors: c.errors}
			end := Lost(&job, time.Unix(9, 0), 1)
			if end.Outcome != c.outcome || !end.Lost || end.Ref != (core.Ref{ID: 7, Token: 3}) || len(end.Errors) != len(c.errors)+1 {
				t.Fatalf("%+v", end)
			}
			if e := end.Errors[len(c.errors)]; e.Kind != c.kind || e.Losses != c.losses || e.Attempt != c.attempts || !e.At.Equal(time.Unix(9, 0)) {
				t.Errorf("%+v", e)
			}
			if c.kind == core.KindLost && c.outcome != core.EndFail && end.Wait != Backoff(nil, c.losses, 0.5) {
				t.Errorf("waits %s at most, want a step of the back-off", end.Wait)
			}
		})
	}
}

// TestLossesProperties: in any history of a job, losses cost it one attempt in total, and MaxLosses in a row end it. If
// max_attempts is above 1, only the job's own runs use the other attempts.
func TestLossesProperties(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		job := core.Job{ID: 1, MaxAttempts: 1 + rnd.IntN(8), Backoff: []time.Duration{time.Duration(rnd.IntN(3)) * time.Hour}}
		inRow, charged, ended := 0, 0, false
		for range 60 {
			job.Attempts++
			if job.Attempts > job.MaxAttempts {
				t.Fatalf("a start beyond max_attempts %d: %+v", job.MaxAttempts, job.Errors)
			}
			var end core.End
			lost := rnd.IntN(2) == 0
			if lost {
				inRow++
				end = Lost(&job, time.Unix(0, 0), rnd.Float64())
			} else {
				inRow = 0
				ran := []Ran{{Err: errors.New("no")}, {Err: core.Snooze(time.Second)}, {Err: errors.New("stop"), Cause: core.ErrStopping}}[rnd.IntN(3)]
				if ran.Cause != nil {
					inRow = job.Losses() // a hand-back says nothing about the job
				}
				end = End(&job, ran, time.Unix(0, 0), rnd.Float64())
			}
			step := Backoff(job.Backoff, inRow, 0.5)
			switch {
			case lost && (end.Wait < 0 || end.Wait > step):
				t.Fatalf("a loss waits %s, a step is %s", end.Wait, step)
			case lost && (end.Outcome == core.EndFail) != (inRow >= core.MaxLosses || job.MaxAttempts == 1):
				t.Fatalf("loss %d in a row of a job of %d attempts: %+v", inRow, job.MaxAttempts, end)
			case lost && end.Outcome == core.EndRetry:
				charged++
			}
			if end.Outcome == core.EndFail {
				ended = true
				break
			}
			if end.Outcome != core.EndRetry {
				job.Attempts--
			}
			if end.Outcome != core.EndHandBack {
				job.Errors = end.Errors
			}
			if job.Losses() != inRow {
				t.Fatalf("%d losses in a row are counted, %d were", job.Losses(), inRow)
			}
		}
		if charged > 1 && len(job.Errors) < core.MaxErrors {
			t.Fatalf("losses cost %d attempts (ended %t): %+v", charged, ended, job.Errors)
		}
	}
}

// TestLossesAreKept: the number of losses is read back from the store.
func TestLossesAreKept(t *testing.T) {
	text, err := json.Marshal(lostErrors(3))
	if err != nil {
		t.Fatal(err)
	}
	var job core.Job
	if err := json.Unmarshal(text, &job.Errors); err != nil || job.Losses() != 3 || !job.Suspect() {
		t.Errorf("%d losses of %s, %v", job.Losses(), text, err)
	}
}
