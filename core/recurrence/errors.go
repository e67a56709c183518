package recurrence

import (
	"fmt"
	"strings"
)

// FieldError names the field of a schedule and the rule it breaks. For the expression the message begins with
// the part it speaks of: "minute: 77 is not within 0-59".
type FieldError struct {
	Field   string // "cron", "time_zone", "dst_gap", "dst_overlap", "starts_at", "ends_at", "anchor"
	Message string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Message }

// FieldErrors is every rule a schedule breaks. errors.As finds the first.
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

func (e *FieldErrors) add(field, message string, args ...any) {
	*e = append(*e, &FieldError{Field: field, Message: fmt.Sprintf(message, args...)})
}

// err is e as an error: nil when it is empty.
func (e FieldErrors) err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// shown is a part of an expression for a message: quoted, and cut where it is long.
func shown(text string) string {
	const most = 40
	if len(text) > most {
		text = text[:most] + "..."
	}
	return fmt.Sprintf("%q", text)
}
