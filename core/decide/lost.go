package decide

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// A job that is lost with its worker need not have ended it: every job that ran beside the cause is lost too. So losses cost
// a job one attempt in all and have a budget of their own. Retries are spread over the whole wait, so that jobs lost
// together do not start together again. After SuspectLosses in a row a job runs beside few other suspects or none; see
// suspects. So only a job that ends processes reaches MaxLosses.

var (
	errLost        = errors.New("the worker was lost: its lease passed")
	errNotReported = errors.New("the target accepted the job and did not report its end in time")
)

// Lost is the end of a running job whose lease has passed, written only if it still has then. The job's first loss
// costs an attempt, if one is left; later ones cost none. It waits, chance (0 … 1) of its back-off after so many losses, and
// fails for good with MaxLosses in a row. A job of one attempt fails with its first: it was promised not to run twice. What
// a target had accepted and has not reported is no loss but a failed attempt.
func Lost(job *core.Job, at time.Time, chance float64) core.End {
	end := core.End{Ref: core.Ref{ID: job.ID, Token: job.LeaseToken}, Lost: true}
	if job.WorkerID == core.TargetWorkerID {
		return decideError(end, job, Ran{Err: errNotReported}, core.KindTimeout, at, chance)
	}
	losses := job.Losses() + 1
	fault := core.AttemptError{Attempt: job.Attempts, At: at, Error: errLost.Error(), Kind: core.KindLost, Losses: losses}
	switch {
	case losses >= core.MaxLosses:
		end.Outcome = core.EndFail
		fault.Error = fmt.Sprintf("quarantined: %d runs in a row were lost with their workers, so this job is taken for what ends them", losses)
	case job.MaxAttempts <= 1:
		end.Outcome = core.EndFail
	default:
		if end.Outcome = core.EndLoss; lossCounts(job) {
			end.Outcome = core.EndRetry
		}
		end.Wait = spread(job.Backoff, losses, chance)
	}
	end.Errors = core.AppendError(job.Errors, fault)
	return end
}

// lossCounts reports whether the loss of the present run costs the job an attempt: none did, and one is left.
func lossCounts(job *core.Job) bool {
	lost := func(e core.AttemptError) bool { return e.Kind == core.KindLost }
	return job.Attempts < job.MaxAttempts && !slices.ContainsFunc(job.Errors, lost)
}

// spread is the wait after so many losses in a row: any part of the step, so that those lost together come back apart.
func spread(waits []time.Duration, losses int, chance float64) time.Duration {
	return time.Duration(float64(Backoff(waits, losses, 0.5)) * min(max(chance, 0), 1))
}

// settleLosses is the history of a job of which a run came to its end: what was lost before says nothing of it any more.
func settleLosses(history []core.AttemptError) []core.AttemptError {
	n := len(history)
	if n == 0 || history[n-1].Losses == 0 {
		return history
	}
	history = slices.Clone(history)
	history[n-1].Losses = 0
	return history
}
