package handler

import (
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Why a handler's context has ended, as context.Cause returns it.
var (
	ErrCancelWanted = core.ErrCancelWanted // someone cancelled the job
	ErrTimeout      = core.ErrTimeout      // the attempt's timeout has passed; ctx.Err is then context.DeadlineExceeded
	ErrLeaseLost    = core.ErrLeaseLost    // another worker may have the job by now: stop at once
	ErrStopping     = core.ErrStopping     // the worker stops; an error after this counts no attempt
)

// Permanent marks err so that the job fails at once, even if attempts are left, and becomes a dead letter.
func Permanent(err error) error { return core.Permanent(err) }

// RetryAfter fails the attempt with err, which may be nil, and retries the job after d instead of its back-off.
func RetryAfter(err error, d time.Duration) error { return core.RetryAfter(err, d) }

// Snooze runs the job again after d and counts no attempt. After core.MaxSnoozes snoozes of a job, a snooze counts as an
// error.
func Snooze(d time.Duration) error { return core.Snooze(d) }
