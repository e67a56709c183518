package recurrence

import (
	"fmt"
	"strings"
)

// FieldError names the field of a schedule and the rule it breaks. For an expression the message begins with the faulty
// part: "minute: 77 is not within 0-59".
type FieldError struct {
	Field   string // "cron", "time_zone", "dst_gap", "dst_overlap", "starts_at", "ends_at", "anchor"
	Message string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Message }

// FieldErrors lists every rule that a schedule breaks. errors.As finds the first.
type FieldErrors []*FieldError

func (e FieldErrors) Error() string {
	texts := make([]string, len(e))
	for i, f := range e {
		texts[i] = f.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap lets errors.Is and errors.As find each error.
func (e FieldErrors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, f := range e {
		errs[i] = f
	}
	return errs
}

func (e *FieldErrors) add(field, message string, args ...any) {
	*e = append(*e, &FieldError{Field: field, Message: fmt.Sprintf(message, args...)})
}

// err returns e as an error, or nil if it is empty.
func (e FieldErrors) err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// shown quotes a part of an expression for a message, and shortens it if it is long.
func shown(text string) string {
	const most = 40
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("%q", text)
}
