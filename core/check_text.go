package core

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// typeRule is the rule that checkType enforces, as a sentence.
const typeRule = "must be 1 to 200 of the characters A-Z a-z 0-9 _ - : . /, begin with a letter, " +
	"and have a letter, digit, _ - or : on both sides of each . and /"

// checkType allows only characters that need no escaping in a URL, a metric label, a log line, a shell and SQL: no "..", no
// "//", nothing at the end that gets trimmed.
func checkType(errs *FieldErrors, name string) {
	switch {
	case !ValidType(name):
		errs.Add("type", typeRule)
	case Reserved(name):
		errs.Add("type", reservedRule)
	}
}

// CheckTypeName checks the form of a type's name. Reserved names pass. The error is FieldErrors.
func CheckTypeName(name string) error {
	var errs FieldErrors
	if !ValidType(name) {
		errs.Add("type", typeRule)
	}
	return errs.Err()
}

func ValidType(name string) bool {
	if name == "" || len(name) > MaxTypeBytes || !letter(name[0]) {
		return false
	}
	separator := false // the last character may not be at an edge
	for i := range len(name) {
		switch c := name[i]; {
		case c == '.' || c == '/':
			if separator {
				return false
			}
			separator = true
		case letter(c), digit(c), c == '_', c == '-', c == ':':
			separator = false
		default:
			return false
		}
	}
	return !separator
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// CheckText accepts text of any language that can be shown on one line. "" passes.
func CheckText(errs *FieldErrors, field, text string, limit int) {
	if len(text) > limit {
		errs.Add(field, "is %d bytes, at most %d are kept", len(text), limit)
		return
	}
	if !utf8.ValidString(text) {
		errs.Add(field, "must be valid UTF-8")
		return
	}
	for at, r := range text {
		if !printable(r) {
			errs.Add(field, "holds the control character %U at byte %d", r, at)
			return
		}
	}
}

// printable reports whether a name may contain r: r is no control character, no line or paragraph separator, and no code
// point that is never a character.
func printable(r rune) bool {
	switch {
	case unicode.IsControl(r), r == '\u2028', r == '\u2029':
		return false
	case r >= 0xFDD0 && r <= 0xFDEF, r&0xFFFE == 0xFFFE:
		return false
	}
	return true
}

// checkTrace accepts a W3C traceparent of version 00, or none.
func checkTrace(errs *FieldErrors, trace string) {
	if trace != "" && !ValidTrace(trace) {
		errs.Add("traceparent", "must be a W3C traceparent of version 00")
	}
}

// ValidTrace reports whether text is a W3C traceparent of version 00.
func ValidTrace(text string) bool {
	const shape = "00-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx"
	if len(text) != len(shape) {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if shape[i] == 'x' && !digit(c) && (c < 'a' || c > 'f') || shape[i] != 'x' && c != shape[i] {
			return false
		}
	}
	return true
}

// ReservedPrefix begins, in upper or lower case, the types and dedupe keys that only Belfry itself may give to jobs. So a
// receiver can trust the type of a delivery, and no caller can take the dedupe key of an alert.
const ReservedPrefix = "belfry."

const reservedRule = "must not begin with belfry.: Belfry keeps such names for itself"

// AlertType is the type of the jobs that deliver alerts to a webhook.
const AlertType = ReservedPrefix + "alert"

// Reserved reports whether only Belfry itself may give a job this type or dedupe key.
func Reserved(name string) bool {
	return len(name) >= len(ReservedPrefix) && strings.EqualFold(name[:len(ReservedPrefix)], ReservedPrefix)
}
