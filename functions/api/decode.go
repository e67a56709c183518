package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belfry-dev/belfry/core"
)

// maxFaults bounds the faults one document is told of at once.
const maxFaults = 20

// parse accepts a body that is JSON, and one object. What it returns may be walked without further checks of
// its grammar.
func parse(body []byte) ([]byte, error) {
	if _, err := core.ScanJSON(body); err != nil {
		var at *core.JSONError
		if !errors.As(err, &at) {
			return nil, err
		}
		line := 1 + bytes.Count(body[:at.Offset], []byte("\n"))
		column := at.Offset - bytes.LastIndexByte(body[:at.Offset], '\n')
		return nil, fieldProblem(http.StatusBadRequest, "body", fmt.Sprintf("is not JSON: %s (line %d, column %d)", at.Reason, line, column))
	}
	body = bytes.TrimSpace(body)
	if body[0] != '{' {
		return nil, fieldProblem(http.StatusUnprocessableEntity, "body", "must be an object, not "+kind(body))
	}
	return body, nil
}

// decoder reads the fields of one object and collects all that is wrong with them.
type decoder struct {
	path  string // put before each field's name: "", "jobs[3]."
	seen  []bool // per name: it stood in the object
	names []string
	errs  core.FieldErrors
	large bool // a field was over a limit of bytes: 413
}

// object calls set for each member of raw that is one of names. Other names, and names that stand twice, are
// faults.
func (d *decoder) object(raw []byte, names []string, set func(name string, value []byte)) {
	d.names, d.seen = names, make([]bool, len(names))
	members(raw, func(name string, value []byte) {
		i := slices.Index(names, name)
		switch {
		case i < 0:
			d.fault(shown(name), unknownRule(names))
		case d.seen[i]:
			d.fault(name, "is given twice")
		default:
			d.seen[i] = true
			set(name, value)
		}
	})
}

func unknownRule(names []string) string {
	if len(names) == 0 {
		return "is not a field here; the body must be {} or left out"
	}
	return "is not a field here; the fields are " + list(names)
}

// has reports whether a field stood in the object.
func (d *decoder) has(name string) bool {
	i := slices.Index(d.names, name)
	return i >= 0 && d.seen[i]
}

func (d *decoder) fault(field, rule string) {
	if len(d.errs) < maxFaults {
		d.errs = append(d.errs, &core.FieldError{Field: d.path + field, Rule: rule})
	}
}

// addFaults adds what a check of core found, except about fields that could not even be read, or that stand in for one of those.
func (d *decoder) addFaults(err error) {
	var errs core.FieldErrors
	if !errors.As(err, &errs) {
		return
	}
	for _, e := range errs {
		field := d.path + e.Field
		known := slices.ContainsFunc(d.errs, func(known *core.FieldError) bool {
			return known.Field == field || known.Field == d.path+"every" && e.Rule == core.NoTiming
		})
		if !known {
			d.fault(e.Field, e.Rule)
		}
	}
}

// problem is what was found, or nil.
func (d *decoder) problem() *Problem {
	switch {
	case len(d.errs) == 0:
		return nil
	case d.large:
		return fieldsProblem(http.StatusRequestEntityTooLarge, d.errs)
	}
	return fieldsProblem(http.StatusUnprocessableEntity, d.errs)
}

// text reads a string.
func (d *decoder) text(field string, raw []byte) (string, bool) {
	if raw[0] != '"' {
		d.fault(field, "must be a string, not "+kind(raw))
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	facts, err := core.ScanJSON(raw)
	var s string
	switch {
	case err != nil || facts.Lone >= 0:
		d.fault(field, "holds a lone surrogate, which is no character")
	case json.Unmarshal(raw, &s) == nil:
		return s, true
	}
	return "", false
}

// some reads a string that must not be empty.
func (d *decoder) some(field string, raw []byte) string {
	s, ok := d.text(field, raw)
	if ok && s == "" {
		d.fault(field, "must not be empty; leave the field out instead")
	}
	return s
}

// duration reads a Go duration string.
func (d *decoder) duration(field string, raw []byte) (time.Duration, bool) {
	const rule = `must be a duration with its units, such as "90s" or "1h30m"`
	if raw[0] != '"' {
		d.fault(field, rule+", not "+kind(raw))
		return 0, false
	}
	s, ok := d.text(field, raw)
	if !ok {
		return 0, false
	}
	t, ok := core.ReadDuration(s)
	switch {
	case !ok:
		d.fault(field, rule)
	case t.Abs() < core.Precision && strings.ContainsAny(s, "123456789"):
		d.fault(field, core.TooShort)
		return 0, false
	}
	return t, ok
}

// instant reads an RFC 3339 time and holds it against the bounds at once: the zero time would else pass for
// none at all.
func (d *decoder) instant(field string, raw []byte, now time.Time) time.Time {
	s, ok := d.text(field, raw)
	if !ok {
		return time.Time{}
	}
	t, fault := parseInstant(field, s, now)
	if fault != nil {
		d.fault(field, fault.Rule)
	}
	return t
}

// parseInstant reads an RFC 3339 time of a field or a parameter.
func parseInstant(field, text string, now time.Time) (time.Time, *core.FieldError) {
	t, rule := core.ParseInstant(text)
	if rule != "" {
		return time.Time{}, &core.FieldError{Field: field, Rule: rule}
	}
	return core.CheckInstant(field, t, now)
}

// whole reads a whole number within bounds.
func (d *decoder) whole(field string, raw []byte, low, high int) int {
	n, ok := wholeNumber(raw)
	if !ok || n < low || n > high {
		d.fault(field, fmt.Sprintf("must be a whole number from %d to %d", low, high))
		return 0
	}
	return n
}

// wholeNumber reads a number of JSON that has no fraction, however it is written: 5.0 and 5e0 are 5.
func wholeNumber(raw []byte) (int, bool) {
	if n, err := strconv.Atoi(string(raw)); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	return int(f), true
}

// array calls each for the elements of an array of at most limit.
func (d *decoder) array(field string, raw []byte, limit int, each func(field string, value []byte)) {
	if raw[0] != '[' {
		d.fault(field, "must be an array, not "+kind(raw))
		return
	}
	n := 0
	elements(raw, func(value []byte) bool {
		if n++; n > limit {
			d.fault(field, fmt.Sprintf("must have at most %d elements", limit))
			return false
		}
		each(fmt.Sprintf("%s[%d]", field, n-1), value)
		return true
	})
}

// shown is a stranger's name for a field, made fit to repeat.
func shown(name string) string {
	if name == "" {
		return `""`
	}
	if !utf8.ValidString(name) || len(name) > 64 || strconv.Quote(name) != `"`+name+`"` {
		return strconv.Quote(core.CleanText(name, 64))
	}
	return name
}

// list writes names as a sentence would.
func list(names []string) string {
	text := ""
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += name
	}
	return text
}
