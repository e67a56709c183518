package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belfry-dev/belfry/core/jsonscan"
)

// Bounds on submitted jobs, beside those of job.go.
const (
	MaxTypeBytes    = 200
	MaxTenantBytes  = 255
	MaxKeyBytes     = 512 // of a dedupe key
	MaxTags         = 20
	MaxTagBytes     = 64
	MaxPayloadDepth = 100 // nesting of arrays and objects
	MaxAttempts     = 100
	MaxBackoff      = 20 // entries of a back-off list
	MinTimeout      = time.Second
	MaxTimeout      = 24 * time.Hour
	MaxBackoffWait  = 30 * 24 * time.Hour
	MaxLease        = 31 * 24 * time.Hour // no worker writes a lease that ends later than this
	PastYears       = 10                  // run_at may be this far in the past
	FutureYears     = 100                 // run_at, expires_at and a delay may reach this far ahead
)

// FieldErrors lists every rule that a document breaks, in the order of its fields. errors.As finds the first.
type FieldErrors []*FieldError

func (e FieldErrors) Error() string {
	texts := make([]string, len(e))
	for i, f := range e {
		texts[i] = f.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap lets errors.Is and errors.As see each of them.
func (e FieldErrors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, f := range e {
		errs[i] = f
	}
	return errs
}

// Add adds that field breaks rule.
func (e *FieldErrors) Add(field, rule string, args ...any) {
	*e = append(*e, &FieldError{Field: field, Rule: fmt.Sprintf(rule, args...)})
}

// Err returns e as an error, or nil if it is empty.
func (e FieldErrors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// Choose accepts the default and the others, and replaces an empty value by the default.
func (e *FieldErrors) Choose(field string, value *string, usual string, others ...string) {
	if *value == "" {
		*value = usual
	}
	if *value != usual && !slices.Contains(others, *value) {
		all := append([]string{usual}, others...)
		text := ""
		for i, v := range all {
			switch {
			case i == len(all)-1:
				text += " or "
			case i > 0:
				text += ", "
			}
			text += v
		}
		e.Add(field, "must be %s", text)
	}
}

// CheckedJob is a job as stores keep it: completed by its type and checked against every rule. Only CheckNewJob makes one, so
// the check cannot be skipped and need not be repeated. The zero value is no job.
type CheckedJob struct{ job NewJob }

// NewJob returns the job for a store.
func (c *CheckedJob) NewJob() NewJob { return c.job }

// CheckNewJob completes a job by its type t, checks it against every rule of submission and normalises it for the store: times
// in UTC and truncated to the microsecond, priority and max_attempts set. The error is FieldErrors, with all faults at once,
// and contains no values. now bounds run_at and expires_at; it need not be exact.
func CheckNewJob(j NewJob, t JobType, now time.Time) (CheckedJob, error) {
	t.Complete(&j)
	if err := checkNewJob(&j, now); err != nil {
		return CheckedJob{}, err
	}
	return CheckedJob{j}, nil
}

func checkNewJob(j *NewJob, now time.Time) error {
	var errs FieldErrors
	checkType(&errs, j.Type)
	checkPayload(&errs, j.Payload)
	if j.Priority == 0 {
		j.Priority = Default
	}
	if !j.Priority.Valid() {
		errs.Add("priority", "must be critical, default or bulk")
	}
	CheckText(&errs, "tenant", j.Tenant, MaxTenantBytes)
	CheckText(&errs, "dedupe_key", j.DedupeKey, MaxKeyBytes)
	if Reserved(j.DedupeKey) {
		errs.Add("dedupe_key", reservedRule)
	}
	checkTimes(&errs, j, now)
	if j.MaxAttempts == 0 {
		j.MaxAttempts = DefaultMaxAttempts
	}
	checkAttempts(&errs, j.MaxAttempts)
	checkTimeout(&errs, j.Timeout)
	j.Timeout = TruncateLength(j.Timeout)
	j.Backoff = checkBackoff(&errs, j.Backoff)
	checkTarget(&errs, j.Target)
	checkTags(&errs, j.Tags)
	checkTrace(&errs, j.Trace)
	return errs.Err()
}

// checkPayload accepts any JSON that a store can keep byte for byte and that any reader can decode.
func checkPayload(errs *FieldErrors, payload json.RawMessage) {
	if payload == nil {
		return
	}
	if len(payload) > MaxPayloadBytes {
		errs.Add("payload", "is %d bytes, at most %d are kept", len(payload), MaxPayloadBytes)
		return
	}
	facts, err := jsonscan.Scan(payload)
	switch {
	case err != nil:
		errs.Add("payload", "must be JSON: %s", err)
	case facts.Depth > MaxPayloadDepth:
		errs.Add("payload", "nests arrays and objects %d deep, at most %d are kept", facts.Depth, MaxPayloadDepth)
	default:
		checkStrings(errs, "payload", facts)
	}
}

// checkStrings refuses strings that JSON can contain but a store cannot keep.
func checkStrings(errs *FieldErrors, field string, facts jsonscan.Facts) {
	if facts.Nul >= 0 {
		errs.Add(field, "holds \\u0000 at byte %d, which cannot be kept", facts.Nul)
	} else if facts.Lone >= 0 {
		errs.Add(field, "holds a lone surrogate at byte %d, which is no character", facts.Lone)
	}
}

// checkBackoff checks the waits and normalises them for the store.
func validAttempts(n int) bool              { return 1 <= n && n <= MaxAttempts }
func validTimeout(d time.Duration) bool     { return MinTimeout <= d && d <= MaxTimeout }
func validBackoffWait(d time.Duration) bool { return 0 <= d && d <= MaxBackoffWait }

func checkAttempts(errs *FieldErrors, n int) {
	if !validAttempts(n) {
		errs.Add("max_attempts", "must be a whole number from 1 to %d", MaxAttempts)
	}
}

// checkTimeout checks a timeout; zero means none.
func checkTimeout(errs *FieldErrors, d time.Duration) {
	if d != 0 && !validTimeout(d) {
		errs.Add("timeout", "must lie between 1s and 24h")
	}
}

func checkBackoff(errs *FieldErrors, waits []time.Duration) []time.Duration {
	if waits != nil && (len(waits) == 0 || len(waits) > MaxBackoff) {
		errs.Add("backoff", "must list 1 to %d durations", MaxBackoff)
		return waits
	}
	waits = slices.Clone(waits)
	for i, wait := range waits {
		field := fmt.Sprintf("backoff[%d]", i)
		if !validBackoffWait(wait) {
			errs.Add(field, "must lie between 0s and 720h (30 days)")
		}
		waits[i] = KeepLength(errs, field, wait)
	}
	return waits
}

func checkTags(errs *FieldErrors, tags []string) {
	if len(tags) > MaxTags {
		errs.Add("tags", "are %d, at most %d are kept", len(tags), MaxTags)
		return
	}
	for i, tag := range tags {
		if field := fmt.Sprintf("tags[%d]", i); tag == "" {
			errs.Add(field, "must not be empty")
		} else {
			CheckText(errs, field, tag, MaxTagBytes)
		}
	}
}

// CheckResult returns why a result cannot be kept, or nil.
func CheckResult(result json.RawMessage) error {
	if len(result) == 0 {
		return nil
	}
	if len(result) > MaxResultBytes {
		return fmt.Errorf("result: %d bytes, at most %d are kept", len(result), MaxResultBytes)
	}
	facts, err := jsonscan.Scan(result)
	if err != nil {
		return fmt.Errorf("result: not JSON: %w", err)
	}
	var errs FieldErrors
	if facts.Depth > MaxPayloadDepth {
		errs.Add("result", "nests %d deep, at most %d are kept", facts.Depth, MaxPayloadDepth)
	}
	checkStrings(&errs, "result", facts)
	return errs.Err()
}
