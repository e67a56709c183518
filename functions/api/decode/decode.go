package decode

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
	"github.com/belfry-dev/belfry/core/jsonscan"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// MaxFaults bounds the faults one document is told of at once.
const MaxFaults = 20

// Parse accepts a body that is JSON, and one object. What it returns may be walked without further checks of
// its grammar.
func Parse(body []byte) ([]byte, error) {
	if _, err := jsonscan.Scan(body); err != nil {
		var at *jsonscan.Error
		if !errors.As(err, &at) {
			return nil, err
		}
		line := 1 + bytes.Count(body[:at.Offset], []byte("\n"))
		column := at.Offset - bytes.LastIndexByte(body[:at.Offset], '\n')
		return nil, problem.Field(http.StatusBadRequest, "body", fmt.Sprintf("is not JSON: %s (line %d, column %d)", at.Reason, line, column))
	}
	body = bytes.TrimSpace(body)
	if body[0] != '{' {
		return nil, problem.Field(http.StatusUnprocessableEntity, "body", "must be an object, not "+Kind(body))
	}
	return body, nil
}

// Decoder reads the fields of one object and collects all that is wrong with them.
type Decoder struct {
	Path  string // put before each field's name: "", "jobs[3]."
	seen  []bool // per name: it stood in the object
	names []string
	Errs  core.FieldErrors
	Large bool // a field was over a limit of bytes: 413
}

// Object calls set for each member of raw that is one of names. Other names, and names that stand twice, are
// faults.
func (d *Decoder) Object(raw []byte, names []string, set func(name string, value []byte)) {
	d.names, d.seen = names, make([]bool, len(names))
	members(raw, func(name string, value []byte) {
		i := slices.Index(names, name)
		switch {
		case i < 0:
			d.Fault(Shown(name), unknownRule(names))
		case d.seen[i]:
			d.Fault(name, "is given twice")
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
	return "is not a field here; the fields are " + List(names)
}

// Has reports whether a field stood in the object.
func (d *Decoder) Has(name string) bool {
	i := slices.Index(d.names, name)
	return i >= 0 && d.seen[i]
}

func (d *Decoder) Fault(field, rule string) {
	if len(d.Errs) < MaxFaults {
		d.Errs = append(d.Errs, &core.FieldError{Field: d.Path + field, Rule: rule})
	}
}

// AddFaults adds what a check of core found, except about fields that could not even be read, or that stand in for one of those.
func (d *Decoder) AddFaults(err error) {
	var errs core.FieldErrors
	if !errors.As(err, &errs) {
		return
	}
	for _, e := range errs {
		field := d.Path + e.Field
		known := slices.ContainsFunc(d.Errs, func(known *core.FieldError) bool {
			return known.Field == field || known.Field == d.Path+"every" && e.Rule == schedule.NoTiming
		})
		if !known {
			d.Fault(e.Field, e.Rule)
		}
	}
}

// Problem is what was found, or nil.
func (d *Decoder) Problem() *problem.Problem {
	switch {
	case len(d.Errs) == 0:
		return nil
	case d.Large:
		return problem.Fields(http.StatusRequestEntityTooLarge, d.Errs)
	}
	return problem.Fields(http.StatusUnprocessableEntity, d.Errs)
}

// Text reads a string.
func (d *Decoder) Text(field string, raw []byte) (string, bool) {
	if raw[0] != '"' {
		d.Fault(field, "must be a string, not "+Kind(raw))
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	facts, err := jsonscan.Scan(raw)
	var s string
	switch {
	case err != nil || facts.Lone >= 0:
		d.Fault(field, "holds a lone surrogate, which is no character")
	case json.Unmarshal(raw, &s) == nil:
		return s, true
	}
	return "", false
}

// Some reads a string that must not be empty.
func (d *Decoder) Some(field string, raw []byte) string {
	s, ok := d.Text(field, raw)
	if ok && s == "" {
		d.Fault(field, "must not be empty; leave the field out instead")
	}
	return s
}

// Duration reads a Go duration string.
func (d *Decoder) Duration(field string, raw []byte) (time.Duration, bool) {
	const rule = `must be a duration with its units, such as "90s" or "1h30m"`
	if raw[0] != '"' {
		d.Fault(field, rule+", not "+Kind(raw))
		return 0, false
	}
	s, ok := d.Text(field, raw)
	if !ok {
		return 0, false
	}
	t, ok := core.ReadDuration(s)
	switch {
	case !ok:
		d.Fault(field, rule)
	case t.Abs() < core.Precision && strings.ContainsAny(s, "123456789"):
		d.Fault(field, core.TooShort)
		return 0, false
	}
	return t, ok
}

// Instant reads an RFC 3339 time and holds it against the bounds at once: the zero time would else pass for
// none at all.
func (d *Decoder) Instant(field string, raw []byte, now time.Time) time.Time {
	s, ok := d.Text(field, raw)
	if !ok {
		return time.Time{}
	}
	t, fault := ParseInstant(field, s, now)
	if fault != nil {
		d.Fault(field, fault.Rule)
	}
	return t
}

// ParseInstant reads an RFC 3339 time of a field or a parameter.
func ParseInstant(field, text string, now time.Time) (time.Time, *core.FieldError) {
	t, rule := core.ParseInstant(text)
	if rule != "" {
		return time.Time{}, &core.FieldError{Field: field, Rule: rule}
	}
	return core.CheckInstant(field, t, now)
}

// Whole reads a whole number within bounds.
func (d *Decoder) Whole(field string, raw []byte, low, high int) int {
	n, ok := wholeNumber(raw)
	if !ok || n < low || n > high {
		d.Fault(field, fmt.Sprintf("must be a whole number from %d to %d", low, high))
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

// Array calls each for the elements of an array of at most limit.
func (d *Decoder) Array(field string, raw []byte, limit int, each func(field string, value []byte)) {
	if raw[0] != '[' {
		d.Fault(field, "must be an array, not "+Kind(raw))
		return
	}
	n := 0
	elements(raw, func(value []byte) bool {
		if n++; n > limit {
			d.Fault(field, fmt.Sprintf("must have at most %d elements", limit))
			return false
		}
		each(fmt.Sprintf("%s[%d]", field, n-1), value)
		return true
	})
}

// Shown is a stranger's name for a field, made fit to repeat.
func Shown(name string) string {
	if name == "" {
		return `""`
	}
	if !utf8.ValidString(name) || len(name) > 64 || strconv.Quote(name) != `"`+name+`"` {
		return strconv.Quote(core.CleanText(name, 64))
	}
	return name
}

// List writes names as a sentence would.
func List(names []string) string {
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

// Flag reads true or false.
func (d *Decoder) Flag(field string, raw []byte) bool {
	switch string(raw) {
	case "true":
		return true
	case "false":
	default:
		d.Fault(field, "must be true or false, not "+Kind(raw))
	}
	return false
}
