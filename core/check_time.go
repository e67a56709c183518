package core

import "time"

// Precision is what stores keep of a time. Times are truncated to it once, where they come in.
const Precision = time.Microsecond

// MaxDelay is the longest delay: FutureYears of 365 days.
const MaxDelay = FutureYears * 365 * 24 * time.Hour

// CheckInstant refuses a time that no job should have: years like 20231, typed by mistake, and times no store
// can keep. It returns the time as it is kept: in UTC, truncated to the microsecond.
func CheckInstant(field string, t, now time.Time) (time.Time, *FieldError) {
	if t.Before(now.AddDate(-PastYears, 0, 0)) || t.After(now.AddDate(FutureYears, 0, 0)) {
		return t, &FieldError{field, "must lie between 10 years ago and 100 years ahead"}
	}
	return t.UTC().Truncate(Precision), nil
}

// TooShort is the rule that durations break which would be kept as none.
const TooShort = "must be 0s or at least 1µs: shorter durations are not kept"

// keepLength brings a duration into the form that is kept. One that would be kept as none is refused.
func keepLength(errs *FieldErrors, field string, d time.Duration) time.Duration {
	if d > 0 && d < Precision {
		errs.Add(field, "%s", TooShort)
	}
	return truncateLength(d)
}

// truncateLength is a duration as it is kept: to the microsecond, as times are. One below that stays as it is, for whoever
// knows the least that is allowed.
func truncateLength(d time.Duration) time.Duration {
	if d.Abs() < Precision {
		return d
	}
	return d.Truncate(Precision)
}

// CheckDelay refuses delays below zero or beyond MaxDelay.
func CheckDelay(field string, d time.Duration) (time.Duration, *FieldError) {
	if d < 0 || d > MaxDelay {
		return d, &FieldError{field, "must lie between 0s and 876000h (100 years)"}
	}
	var errs FieldErrors
	if d = keepLength(&errs, field, d); len(errs) > 0 {
		return d, errs[0]
	}
	return d, nil
}

// Bounds on expires_after.
const (
	MinExpiresAfter = time.Second
	MaxExpiresAfter = 400 * 24 * time.Hour
)

// ExpiresAfterRule is the rule for expires_after where it is given.
const ExpiresAfterRule = "must lie between 1s and 9600h (400 days)"

// checkExpiresAfter holds an expires_after against its rule; zero is none.
func checkExpiresAfter(errs *FieldErrors, d time.Duration) {
	if d != 0 && (d < MinExpiresAfter || d > MaxExpiresAfter) {
		errs.Add("expires_after", ExpiresAfterRule)
	}
}

// Expiry is when a job that may first start at runAt expires; zero means never.
func (j *NewJob) Expiry(runAt time.Time) time.Time {
	if j.ExpiresAt.IsZero() && j.ExpiresAfter > 0 {
		return runAt.Add(j.ExpiresAfter).Truncate(Precision)
	}
	return j.ExpiresAt
}

// checkTimes checks run_at, delay and expires_at, alone and against one another.
func checkTimes(errs *FieldErrors, j *NewJob, now time.Time) {
	before := len(*errs)
	var start time.Time
	if !j.RunAt.IsZero() {
		t, err := CheckInstant("run_at", j.RunAt, now)
		if err != nil {
			*errs = append(*errs, err)
		}
		j.RunAt, start = t, t
		if j.Delay != 0 {
			errs.Add("delay", "set run_at or delay, not both")
		}
	} else {
		d, err := CheckDelay("delay", j.Delay)
		if err != nil {
			*errs = append(*errs, err)
		}
		j.Delay, start = d, now.Add(d)
	}
	if j.ExpiresAt.IsZero() {
		return
	}
	t, err := CheckInstant("expires_at", j.ExpiresAt, now)
	if err != nil {
		*errs = append(*errs, err)
	}
	j.ExpiresAt = t
	if len(*errs) == before && !t.After(start) {
		errs.Add("expires_at", "must be after the job may start")
	}
}
