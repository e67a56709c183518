package decide

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// A job that is lost with its worker may be innocent, because a crash loses every job on that worker. So losses cost a job
// one attempt in total and have a budget of their own. Retries are spread over the whole wait, so that jobs lost together do
// not start together again. After SuspectLosses in a row a job runs beside few other suspects or none (see
// core/work/suspect.go). So only a job that kills processes reaches MaxLosses.

var (
	errLost        = errors.New("the worker was lost: its lease passed")
	errNotReported = errors.New("the target accepted the job and did not report its end in time")
)

// Lost returns the end of a running job whose lease has expired. The store writes it only if the lease is still expired
// then. The job's first loss costs an attempt, if one is left; later ones cost none. The job waits for the fraction chance
// (0 … 1) of the back-off for its number of losses, and fails for good after MaxLosses in a row. A job with one attempt
// fails at its first loss, because it must not run twice. If a target had accepted the job and did not report, this is a
// failed attempt, not a loss.
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

// lossCounts reports whether this loss costs the job an attempt: it is the first loss, and an attempt is left.
func lossCounts(job *core.Job) bool {
	lost := func(e core.AttemptError) bool { return e.Kind == core.KindLost }
	return job.Attempts < job.MaxAttempts && !slices.ContainsFunc(job.Errors, lost)
}

// spread returns the wait after a number of losses in a row: a random part of the back-off step, so that jobs lost together
// are retried at different times.
func spread(waits []time.Duration, losses int, chance float64) time.Duration {
	return time.Duration(float64(Backoff(waits, losses, 0.5)) * min(max(chance, 0), 1))
}

// settleLosses returns the job's history after a run that ended normally: earlier losses no longer count.
func settleLosses(history []core.AttemptError) []core.AttemptError {
	n := len(history)
	if n == 0 || history[n-1].Losses == 0 {
		return history
	}
	history = slices.Clone(history)
	history[n-1].Losses = 0
	return history
}
