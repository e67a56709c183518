package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// MaxTypes bounds the definitions of one installation: every process keeps them all in memory.
const MaxTypes = 10_000

// Bounds on expect_within of types and schedules.
const (
	MinExpectWithin = time.Second
	MaxExpectWithin = 400 * 24 * time.Hour
)

// JobType is the definition of a type: the defaults of its jobs.
type JobType struct {
	Name         string
	Target       json.RawMessage // {"url": …, "headers": {…}}; nil means that handlers do the work
	Timeout      time.Duration   // zero means the worker's default
	MaxAttempts  int             // zero means DefaultMaxAttempts
	Backoff      []time.Duration // nil means DefaultBackoff
	ExpiresAfter time.Duration   // a job that has not started this long after it may is cancelled. Zero means never
	ExpectWithin time.Duration   // without a success for this long an alert is raised. Zero means no alert
	CreatedAt    time.Time
	UpdatedAt    time.Time

	Delivered bool // jobs of this type had targets of their own
	Defined   bool // PutType made it; else it is only a mark
}

// CheckJobType checks a definition and normalises it for the store. The error is FieldErrors.
func CheckJobType(t *JobType) error {
	var errs FieldErrors
	checkType(&errs, t.Name)
	checkTarget(&errs, t.Target)
	if t.MaxAttempts != 0 {
		checkAttempts(&errs, t.MaxAttempts)
	}
	checkTimeout(&errs, t.Timeout)
	t.Timeout = TruncateLength(t.Timeout)
	t.Backoff = checkBackoff(&errs, t.Backoff)
	t.ExpectWithin = TruncateLength(t.ExpectWithin)
	CheckExpiresAfter(&errs, t.ExpiresAfter)
	t.ExpiresAfter = TruncateLength(t.ExpiresAfter)
	if t.ExpectWithin != 0 && (t.ExpectWithin < MinExpectWithin || t.ExpectWithin > MaxExpectWithin) {
		errs.Add("expect_within", "must lie between 1s and 9600h (400 days)")
	}
	return errs.Err()
}

// TooManyTypes returns the error for a type beyond MaxTypes: FieldErrors.
func TooManyTypes() error {
	return FieldErrors{{Field: "type", Rule: fmt.Sprintf("would be one more than the %d types that can be kept: delete definitions nobody uses, or use fewer types for jobs with a target of their own", MaxTypes)}}
}

// TypesBound returns how many types there may be after these are added. Belfry's own types may always be added.
func TypesBound(names []string) int64 {
	for _, name := range names {
		if !Reserved(name) {
			return MaxTypes
		}
	}
	return MaxTypes + int64(len(names))
}

// Complete fills in the defaults of the type. It does not copy the target, which is read at the delivery, so that a changed
// URL applies to waiting jobs too. A default that breaks the rules, which only a damaged row has, is left out: who submits
// the job did not give it.
func (t *JobType) Complete(j *NewJob) {
	if j.MaxAttempts == 0 && validAttempts(t.MaxAttempts) {
		j.MaxAttempts = t.MaxAttempts
	}
	if j.Timeout == 0 && validTimeout(t.Timeout) {
		j.Timeout = t.Timeout
	}
	invalid := func(wait time.Duration) bool { return !validBackoffWait(wait) }
	if j.Backoff == nil && len(t.Backoff) > 0 && len(t.Backoff) <= MaxBackoff && !slices.ContainsFunc(t.Backoff, invalid) {
		j.Backoff = t.Backoff
	}
	if j.ExpiresAt.IsZero() && j.ExpiresAfter == 0 && validExpiresAfter(t.ExpiresAfter) {
		j.ExpiresAfter = t.ExpiresAfter
	}
}

// MayDeliver reports whether jobs of the type are delivered to a target: the type's, or one of their own.
func (t *JobType) MayDeliver() bool { return t.Target != nil || t.Delivered }
