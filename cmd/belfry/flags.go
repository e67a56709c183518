package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belfry-dev/belfry/core"
)

// flags adds the flags of a command. Each kind refuses, where the line is read, what the flag cannot mean: nothing at all,
// text that is not UTF-8, a number out of bounds. So what stands in a variable is as it was given, or as it was before.
type flags struct{ *pflag.FlagSet }

func flagsOf(c *cobra.Command) flags { return flags{c.Flags()} }

// value is one flag. Its type is not one of pflag's, whose values take the empty text and any number.
type value struct {
	kind string                          // in the help
	raw  bool                            // a file's name, which may be of any bytes
	set  func(text string) (rule string) // takes the text, or says which rule it breaks
	text string                          // as it stands; "" while it is its zero value
}

func (v *value) String() string { return v.text }
func (v *value) Type() string   { return v.kind }

const emptyRule = "is given, but empty: give it a value, or leave it out"

func (v *value) Set(text string) error {
	rule := ""
	switch {
	case text == "":
		rule = emptyRule
	case !v.raw && !utf8.ValidString(text):
		rule = "must be valid UTF-8"
	default:
		rule = v.set(text)
	}
	if rule != "" {
		return errors.New(rule)
	}
	v.text = text
	return nil
}

// text adds a flag that is a text.
func (f flags) text(to *string, name, usage string) {
	f.Var(&value{kind: "string", set: func(text string) string { *to = text; return "" }}, name, usage)
}

// path adds a flag that names a file, or holds a text where a file may stand for it.
func (f flags) path(to *string, name, usage string) {
	f.Var(&value{kind: "string", raw: true, set: func(text string) string { *to = text; return "" }}, name, usage)
}

// texts adds a flag that may stand more than once.
func (f flags) texts(to *[]string, name, usage string) {
	f.Var(&value{kind: "stringArray", set: func(text string) string { *to = append(*to, text); return "" }}, name, usage)
}

// words adds a flag that may stand more than once, and be several words with commas.
func (f flags) words(to *[]string, name, usage string) {
	f.Var(&value{kind: "strings", set: func(text string) string {
		list := strings.Split(text, ",")
		for _, word := range list {
			if word == "" {
				return "has an empty word between its commas"
			}
		}
		*to = append(*to, list...)
		return ""
	}}, name, usage)
}

var wholeNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// count adds a flag that is a whole number from low to high. to holds what it is where the flag is not given.
func (f flags) count(to *int, name string, low, high int, usage string) {
	f.Var(&value{kind: "int", text: shownDefault(*to), set: func(text string) string {
		n, err := strconv.Atoi(text)
		switch {
		case err != nil || !wholeNumber.MatchString(text) || n < low || n > high:
			if high == math.MaxInt {
				return fmt.Sprintf("must be a whole number, %d or more", low)
			}
			return fmt.Sprintf("must be a whole number from %d to %d", low, high)
		}
		*to = n
		return ""
	}}, name, usage)
}

func shownDefault(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

var decimalNumber = regexp.MustCompile(`^[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?$`)

// rate adds a flag that is a number above zero.
func (f flags) rate(to *float64, name, usage string) {
	f.Var(&value{kind: "float", set: func(text string) string {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !decimalNumber.MatchString(text) || n <= 0 {
			return "must be a number above 0, such as 50 or 0.5"
		}
		*to = n
		return ""
	}}, name, usage)
}

// length adds a flag that is a duration from low to high. to holds what it is where the flag is not given.
func (f flags) length(to *time.Duration, name string, low, high time.Duration, usage string) {
	v := &value{kind: "duration", set: func(text string) string {
		d, ok := core.ReadDuration(text)
		switch {
		case !ok:
			return `must be a duration with its units, such as 90s or 1h30m`
		case d < low || d > high:
			return fmt.Sprintf("must lie between %s and %s", plainDuration(low), plainDuration(high))
		}
		*to = d
		return ""
	}}
	if *to != 0 {
		v.text = to.String()
	}
	f.Var(v, name, usage)
}

// plainDuration writes 24h0m0s as 24h.
func plainDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// instant adds a flag that is a time.
func (f flags) instant(to *time.Time, name, usage string) {
	f.Var(&value{kind: "time", set: func(text string) (rule string) {
		*to, rule = readInstant(text)
		return rule
	}}, name, usage+" (RFC 3339)")
}

// readInstant reads a time. The zero time, which would pass for none, is out of all bounds.
func readInstant(text string) (t time.Time, rule string) {
	if t, rule = core.ParseInstant(text); rule == "" && t.IsZero() {
		rule = "must lie between 10 years ago and 100 years ahead"
	}
	return t, rule
}

// waits adds a flag that is a list of durations.
func (f flags) waits(to *[]time.Duration, name, usage string) {
	f.Var(&value{kind: "durations", set: func(text string) string {
		*to = nil
		for part := range strings.SplitSeq(text, ",") {
			wait, ok := core.ReadDuration(strings.TrimSpace(part))
			if !ok {
				return "must be durations with commas between them, such as 30s,2m"
			}
			if wait < 0 || wait > core.MaxBackoffWait {
				return "must be durations between 0s and 720h (30 days)"
			}
			*to = append(*to, wait)
		}
		return ""
	}}, name, usage)
}

// flagFault says which rule a flag breaks, and nothing of the value: it may be a secret.
func flagFault(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return usage("%s", err)
	}
	flag := invalid.GetFlag()
	if flag.Value.Type() == "bool" {
		return usage("--%s must be true or false", flag.Name)
	}
	return usage("--%s %s", flag.Name, invalid.Unwrap())
}

// tenantFilter is whose things are meant: all, one tenant's, or those without one.
type tenantFilter struct {
	name string
	none bool
}

func (t *tenantFilter) add(c *cobra.Command) {
	flagsOf(c).text(&t.name, "tenant", "of this tenant")
	c.Flags().BoolVar(&t.none, "no-tenant", false, "of those without a tenant")
}

// filter is nil for all.
func (t *tenantFilter) filter() (*string, error) {
	switch {
	case t.name != "" && t.none:
		return nil, usage("--tenant and --no-tenant exclude one another")
	case t.name == "" && !t.none:
		return nil, nil
	}
	return &t.name, nil
}
