package decide

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Ran is how a handler's run ended.
type Ran struct {
	Err    error           // nil: success
	Result json.RawMessage // of a successful run
	Panic  bool            // Err describes a panic
	Cause  error           // why its context had ended; nil if it had not
}

// End turns the end of a run into the core.End that is written: done (with a note if the result was lost), failed, a retry
// after the back-off, a snooze, a hand-back, or accepted (ErrAccepted). An accepted job goes on elsewhere for its timeout;
// Wait is zero if it has none. job is the running row, at is the store's time, and chance (0 … 1) picks the jitter of the
// back-off.
//
// After an error the job is handed back without using an attempt if the worker was stopping or could not keep the lease. An
// explicit outcome (Permanent, RetryAfter, Snooze or a panic) takes precedence. End ignores a wanted cancel, because the
// store's write turns every outcome but done into cancelled. A result that cannot be kept (not JSON, not UTF-8, too long,
// too deep) fails the job for good: a retry would repeat both the work and the error.
func End(job *core.Job, ran Ran, at time.Time, chance float64) core.End {
	end := core.End{Ref: core.Ref{ID: job.ID, Token: job.LeaseToken}}
	if ran.Err == nil {
		fault := core.CheckResult(ran.Result)
		if fault == nil {
			end.Outcome, end.Result = core.EndDone, ran.Result
			return end
		}
		ran.Err = core.Permanent(fault)
	}

	if errors.Is(ran.Err, core.ErrAccepted) && !ran.Panic && !core.IsPermanent(ran.Err) {
		end.Outcome, end.Wait = core.EndAccepted, job.Timeout
		return end
	}

	if core.IsResultLost(ran.Err) && !ran.Panic && !core.IsPermanent(ran.Err) {
		end.Outcome = core.EndDone
		end.Errors = core.AppendError(job.Errors, core.AttemptError{Attempt: job.Attempts, At: at, Error: core.ErrorText(ran.Err), Kind: core.KindResult})
		return end
	}

	if wait, snoozed := core.SnoozeOf(ran.Err); snoozed && !ran.Panic {
		if job.Snoozes < core.MaxSnoozes {
			end.Outcome, end.Wait, end.Errors = core.EndSnooze, boundWait(wait), settleLosses(job.Errors)
			return end
		}
		ran.Err = fmt.Errorf("snoozed more than %d times: %w", core.MaxSnoozes, ran.Err)
		return decideError(end, job, ran, core.KindSnooze, at, chance)
	}

	_, asked := core.RetryAfterOf(ran.Err)
	definite := ran.Panic || core.IsPermanent(ran.Err) || asked
	if !definite && (errors.Is(ran.Cause, core.ErrStopping) || errors.Is(ran.Cause, core.ErrLeaseLost)) {
		end.Outcome = core.EndHandBack
		return end
	}
	return decideError(end, job, ran, kindOf(ran), at, chance)
}

// decideError completes the end of an attempt that failed.
func decideError(end core.End, job *core.Job, ran Ran, kind string, at time.Time, chance float64) core.End {
	end.Errors = core.AppendError(job.Errors, core.AttemptError{Attempt: job.Attempts, At: at, Error: core.ErrorText(ran.Err), Kind: kind})
	if kind == core.KindPermanent || job.Attempts >= job.MaxAttempts {
		end.Outcome = core.EndFail
		return end
	}
	end.Outcome, end.Wait = core.EndRetry, Backoff(job.Backoff, job.Attempts, chance)
	if wait, asked := core.RetryAfterOf(ran.Err); asked {
		end.Wait = boundWait(wait)
	}
	return end
}

func kindOf(ran Ran) string {
	switch {
	case ran.Panic:
		return core.KindPanic
	case core.IsPermanent(ran.Err):
		return core.KindPermanent
	case errors.Is(ran.Cause, core.ErrTimeout):
		return core.KindTimeout
	}
	return core.KindError
}
