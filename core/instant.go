package core

import (
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

// instantForm reports whether text has the form of a time, whatever its numbers, which time.Parse reads, but for the
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
