package core

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Sentinels. Adapters wrap them; callers use errors.Is.
var (
	ErrNotFound     = errors.New("not found")                                        // no job of that id in any table
	ErrConflict     = errors.New("the job's status does not allow it")               // see ConflictError
	ErrStale        = errors.New("the lease token is no longer current")             // a write that changed nothing
	ErrBusy         = errors.New("a row is locked by another transaction")           // try again after a while
	ErrUnavailable  = errors.New("the store cannot be reached")                      // down, starting up, or too slow to answer
	ErrReadOnly     = errors.New("the store is read-only")                           // a standby, out of disk, or the role may not write
	ErrFull         = errors.New("the store's disk is full")                         // ErrReadOnly too
	ErrRights       = error(rightsError{})                                           // a right is missing: ErrReadOnly too
	ErrUnsafe       = errors.New("the store's settings would lose what is accepted") // or allow damage: it is not used
	ErrSchema       = errors.New("the store's schema version does not fit this program")
	ErrLocked       = errors.New("another process has this database file open") // embedded stores
	ErrCorrupt      = errors.New("the database file is damaged")                // embedded stores
	ErrCancelWanted = errors.New("cancel is wanted")
	ErrTimeout      = errors.New("the attempt's timeout has passed")
	ErrLeaseLost    = errors.New("the lease is lost")
	ErrStopping     = errors.New("the worker is stopping")
	ErrAccepted     = errors.New("accepted: the target reports the end itself") // returned by a handler: the attempt goes on elsewhere
	ErrKeyInFlight  = errors.New("a call with this idempotency key is under way")
	ErrKeyReused    = errors.New("this idempotency key was used for something else")
	ErrKeyDamaged   = errors.New("what is kept under this idempotency key is damaged") // trying again does not help
	ErrCannotExtend = errors.New("this queue has no visibility timeout to extend")
)

// rightsError is an ErrReadOnly too.
type rightsError struct{}

func (rightsError) Error() string        { return "the store's role lacks a right" }
func (rightsError) Is(target error) bool { return target == ErrReadOnly }

// advised is a store's error with advice for the operator.
type advised struct {
	err    error
	advice string
}

func (e *advised) Error() string { return e.err.Error() + ": " + e.advice }
func (e *advised) Unwrap() error { return e.err }

// Advise adds advice for the operator to a store's error. The words name settings, rights and tables, and no address,
// role, password or content of jobs: anyone who may ask for readiness sees them.
func Advise(err error, advice string) error { return &advised{err, advice} }

// AdviceOf returns the words of Advise, or "" if there are none.
func AdviceOf(err error) string {
	var a *advised
	if errors.As(err, &a) {
		return a.advice
	}
	return ""
}

// ConflictError says which status refused a change, or which job holds a dedupe key.
type ConflictError struct {
	Job   Job    // the job's present state
	Other int64  // the live job that holds the dedupe key; 0 when the status is the reason
	Act   string // the requested change: cancel, retry, reschedule
}

func (e *ConflictError) Error() string {
	if e.Other != 0 {
		return fmt.Sprintf("%s: job %d holds the same dedupe key", e.Act, e.Other)
	}
	return fmt.Sprintf("%s: the job is %s", e.Act, e.Job.Status)
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// FieldError names the field of a submitted document and the rule it broke.
type FieldError struct {
	Field string // path in the document: "payload", "jobs[3].run_at"
	Rule  string // the rule, as a sentence that says what is allowed
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Rule }

// permanent marks an error that a retry cannot fix.
type permanent struct{ err error }

func (e *permanent) Error() string { return e.err.Error() }
func (e *permanent) Unwrap() error { return e.err }

// Permanent marks err so that the job fails at once, even if attempts are left.
func Permanent(err error) error {
	if err == nil {
		err = errors.New("permanent")
	}
	return &permanent{err}
}

// IsPermanent reports whether err was marked by Permanent.
func IsPermanent(err error) bool { var p *permanent; return errors.As(err, &p) }

// retryAfter carries the wait that a handler asks for.
type retryAfter struct {
	err  error
	wait time.Duration
}

func (e *retryAfter) Error() string { return e.err.Error() }
func (e *retryAfter) Unwrap() error { return e.err }

// RetryAfter fails this attempt with err and retries the job after d instead of the back-off.
func RetryAfter(err error, d time.Duration) error {
	if err == nil {
		err = fmt.Errorf("asked to retry after %s", d)
	}
	return &retryAfter{err, d}
}

// resultLost marks a successful run whose result did not arrive.
type resultLost struct{ err error }

func (e *resultLost) Error() string { return e.err.Error() }
func (e *resultLost) Unwrap() error { return e.err }

// ResultLost ends the job as done without a result. The job keeps err as the reason.
func ResultLost(err error) error { return &resultLost{err} }

// snooze asks for a later run and counts no attempt.
type snooze struct{ wait time.Duration }

func (e *snooze) Error() string { return "snoozed for " + e.wait.String() }

// Snooze puts the job back for d; the attempt is not counted. After MaxSnoozes it counts as an error.
func Snooze(d time.Duration) error { return &snooze{d} }

// CertainlyUnwritten reports whether err was caused by the group's content, so that nothing was written and each job may be
// tried alone. After an outage or a timeout this is unknown, and trying again could write a job twice. A lock that stops a
// group is on the whole table, so each job alone would wait just as long.
func CertainlyUnwritten(err error) bool {
	return !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrReadOnly) && !errors.Is(err, ErrBusy) && !errors.Is(err, ErrUnsafe) &&
		!errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled)
}

// SnoozeOf returns the wait of the Snooze that err is or wraps.
func SnoozeOf(err error) (wait time.Duration, ok bool) {
	var s *snooze
	if !errors.As(err, &s) {
		return 0, false
	}
	return s.wait, true
}

// RetryAfterOf returns the wait of the RetryAfter that err is or wraps.
func RetryAfterOf(err error) (wait time.Duration, ok bool) {
	var r *retryAfter
	if !errors.As(err, &r) {
		return 0, false
	}
	return r.wait, true
}

// IsResultLost reports whether err was marked by ResultLost.
func IsResultLost(err error) bool { var r *resultLost; return errors.As(err, &r) }
