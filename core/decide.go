package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Ran is how a handler's run ended.
type Ran struct {
	Err    error           // nil: it ended well
	Result json.RawMessage // of a run that ended well
	Panic  bool            // Err tells of a panic
	Cause  error           // why its context had ended; nil while it had not
}

// DecideEnd turns the end of a run into what is written: done, with a note if the result was lost, failed, a retry after
// its back-off, a snooze, a hand back, or that it goes on elsewhere (ErrAccepted) for the job's timeout: Wait is zero where the job names none. job is the running row, at the store's time, chance (0 … 1) places the back-off's jitter.
//
// An error after the worker was stopping, or after the lease could not be kept, is handed back uncounted unless the
// handler said something definite (Permanent, RetryAfter, Snooze, a panic). Where cancel is wanted the store's
// write turns all but done into cancelled, so that is not decided here. A result that cannot be kept (not JSON,
// not UTF-8, too long, too deep) fails the job for good: a retry would repeat the work and the fault.
func DecideEnd(job *Job, ran Ran, at time.Time, chance float64) End {
	end := End{Ref: Ref{ID: job.ID, Token: job.LeaseToken}}
	if ran.Err == nil {
		fault := checkResult(ran.Result)
		if fault == nil {
			end.Outcome, end.Result = EndDone, ran.Result
			return end
		}
		ran.Err = Permanent(fault)
	}

	if errors.Is(ran.Err, ErrAccepted) && !ran.Panic && !IsPermanent(ran.Err) {
		end.Outcome, end.Wait = EndAccepted, job.Timeout
		return end
	}

	if IsResultLost(ran.Err) && !ran.Panic && !IsPermanent(ran.Err) {
		end.Outcome = EndDone
		end.Errors = AppendError(job.Errors, AttemptError{Attempt: job.Attempts, At: at, Error: errorText(ran.Err), Kind: KindResult})
		return end
	}

	if wait, snoozed := SnoozeOf(ran.Err); snoozed && !ran.Panic {
		if job.Snoozes < MaxSnoozes {
			end.Outcome, end.Wait, end.Errors = EndSnooze, boundWait(wait), settleLosses(job.Errors)
			return end
		}
		ran.Err = fmt.Errorf("snoozed more than %d times: %w", MaxSnoozes, ran.Err)
		return decideError(end, job, ran, KindSnooze, at, chance)
	}

	_, asked := RetryAfterOf(ran.Err)
	definite := ran.Panic || IsPermanent(ran.Err) || asked
	if !definite && (errors.Is(ran.Cause, ErrStopping) || errors.Is(ran.Cause, ErrLeaseLost)) {
		end.Outcome = EndHandBack
		return end
	}
	return decideError(end, job, ran, kindOf(ran), at, chance)
}

// decideError completes the end of an attempt that failed.
func decideError(end End, job *Job, ran Ran, kind string, at time.Time, chance float64) End {
	end.Errors = AppendError(job.Errors, AttemptError{Attempt: job.Attempts, At: at, Error: errorText(ran.Err), Kind: kind})
	if kind == KindPermanent || job.Attempts >= job.MaxAttempts {
		end.Outcome = EndFail
		return end
	}
	end.Outcome, end.Wait = EndRetry, Backoff(job.Backoff, job.Attempts, chance)
	if wait, asked := RetryAfterOf(ran.Err); asked {
		end.Wait = boundWait(wait)
	}
	return end
}

func kindOf(ran Ran) string {
	switch {
	case ran.Panic:
		return KindPanic
	case IsPermanent(ran.Err):
		return KindPermanent
	case errors.Is(ran.Cause, ErrTimeout):
		return KindTimeout
	}
	return KindError
}
