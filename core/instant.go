package core

import (
	"math"
	"regexp"
	"strings"
	"time"
)

// maxInstantText is longer than any time that is meant: 20 digits and 40 of a fraction.
const maxInstantText = 64

// What is wrong with the text of a time.
const (
	instantRule = `must be an RFC 3339 time such as "2026-03-01T12:00:00Z", with a year of four digits and an offset`
	leapRule    = "must not name a leap second (:60); give the second before or after it"
)

// ParseInstant reads a time as RFC 3339 writes it, and nothing else: T and Z may be small, a fraction has a point and any
// number of digits, hours have two digits, an offset is at most 23:59. The rule says what is wrong, and is "" where
// nothing is. A leap second, which RFC 3339 has and clocks here have not, is named.
func ParseInstant(text string) (t time.Time, rule string) {
	if len(text) > maxInstantText || !instantForm(text) {
		return time.Time{}, instantRule
	}
	text = strings.ToUpper(text)
	if text[17:19] == "60" {
		return time.Time{}, leapRule
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, instantRule // 30 February, 24:00
	}
	return t, ""
}

// instantForm reports whether text has the form of a time that time.Parse reads, with any numbers, but for the
// offset's.
func instantForm(text string) bool {
	const form = "0000-00-00T00:00:00"
	if len(text) < len(form)+1 || !likeForm(text[:len(form)], form) {
		return false
	}
	rest := text[len(form):]
	if rest[0] == '.' {
		digits := strings.TrimLeft(rest[1:], "0123456789")
		if len(digits) == len(rest)-1 {
			return false
		}
		rest = digits
	}
	if rest == "Z" || rest == "z" {
		return true
	}
	return (likeForm(rest, "+00:00") || likeForm(rest, "-00:00")) && rest[1:3] <= "23" && rest[4:6] <= "59"
}

// likeForm reports whether text is form with other digits.
func likeForm(text, form string) bool {
	if len(text) != len(form) {
		return false
	}
	for i := range len(form) {
		switch c := text[i]; form[i] {
		case '0':
			if c < '0' || c > '9' {
				return false
			}
		default:
			if c != form[i] && (form[i] != 'T' || c != 't') {
				return false
			}
		}
	}
	return true
}

// IsInstant reports whether a text is a time as ParseInstant reads it.
func IsInstant(text string) bool {
	_, rule := ParseInstant(text)
	return rule == ""
}

// Precision is the precision of stored times. Times are truncated to it once, when they come in.
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

// TooShort is the rule for durations so short that they would be stored as zero.
const TooShort = "must be 0s or at least 1µs: shorter durations are not kept"

// KeepLength normalises a duration for the store. It refuses one that would be stored as zero.
func KeepLength(errs *FieldErrors, field string, d time.Duration) time.Duration {
	if d > 0 && d < Precision {
		errs.Add(field, "%s", TooShort)
	}
	return TruncateLength(d)
}

// TruncateLength is a duration as it is kept: to the microsecond, as times are. One below that stays as it is, for whoever
// knows the least that is allowed.
func TruncateLength(d time.Duration) time.Duration {
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
	if d = KeepLength(&errs, field, d); len(errs) > 0 {
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

// CheckExpiresAfter checks an expires_after; zero means none.
func CheckExpiresAfter(errs *FieldErrors, d time.Duration) {
	if d != 0 && !validExpiresAfter(d) {
		errs.Add("expires_after", ExpiresAfterRule)
	}
}

func validExpiresAfter(d time.Duration) bool { return MinExpiresAfter <= d && d <= MaxExpiresAfter }

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

// durationShape is a duration as Go writes it: numbers, each with its unit.
var durationShape = regexp.MustCompile(`^[-+]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+$`)

// ReadDuration reads a duration as Go writes it, such as "90s" or "1h30m". A bare "0" is none. One that is longer than a
// time.Duration holds, 292 years, comes back as the longest there is, so that the rule it breaks is the one about its
// bounds. ok is false for what is no duration.
func ReadDuration(text string) (d time.Duration, ok bool) {
	d, err := time.ParseDuration(text)
	switch {
	case err == nil:
		return d, strings.TrimLeft(text, "+-") != "0"
	case !durationShape.MatchString(text):
		return 0, false
	case strings.HasPrefix(text, "-"):
		return math.MinInt64, true
	}
	return math.MaxInt64, true
}
