package handler

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Why a handler's context has ended, as context.Cause of it says.
var (
	ErrCancelWanted = core.ErrCancelWanted // someone cancelled the job
	ErrTimeout      = core.ErrTimeout      // the attempt's timeout has passed; ctx.Err is then context.DeadlineExceeded
	ErrLeaseLost    = core.ErrLeaseLost    // another worker may have the job by now: stop at once
	ErrStopping     = core.ErrStopping     // the worker stops; an error after this is not counted as an attempt
)

// Permanent marks err so that the job fails at once, even if attempts are left, and becomes a dead letter.
func Permanent(err error) error { return core.Permanent(err) }

// RetryAfter makes the attempt count as failed with err, which may be nil, and the next one wait d instead of
// the job's back-off.
func RetryAfter(err error, d time.Duration) error { return core.RetryAfter(err, d) }

// Snooze puts the job back for d without counting the attempt. After core.MaxSnoozes of them in one job it
// counts as an error.
func Snooze(d time.Duration) error { return core.Snooze(d) }
