package console

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

// Flags adds the flags of a command. Each kind refuses, where the line is read, what the flag cannot mean: nothing at all,
// text that is not UTF-8, a number out of bounds. So what stands in a variable is as it was given, or as it was before.
type Flags struct{ *pflag.FlagSet }

// FlagsOf are the flags of a command.
func FlagsOf(c *cobra.Command) Flags { return Flags{c.Flags()} }

// Value is one flag. Its type is not one of pflag's, whose values take the empty text and any number.
type Value struct {
	kind string                          // in the help
	Raw  bool                            // a file's name, which may be of any bytes
	set  func(text string) (rule string) // takes the text, or says which rule it breaks
	text string                          // as it stands; "" while it is its zero value
}

// String is the value as it was given.
func (v *Value) String() string { return v.text }

// Type is its kind, as the help names it.
func (v *Value) Type() string { return v.kind }

const emptyRule = "is given, but empty: give it a value, or leave it out"

// Set reads a value, or returns the rule that it breaks.
func (v *Value) Set(text string) error {
	rule := ""
	switch {
	case text == "":
		rule = emptyRule
	case !v.Raw && !utf8.ValidString(text):
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

// Text adds a flag that is a text.
func (f Flags) Text(to *string, name, usage string) {
	f.Var(&Value{kind: "string", set: func(text string) string { *to = text; return "" }}, name, usage)
}

// Path adds a flag that names a file, or holds a text where a file may stand for it.
func (f Flags) Path(to *string, name, usage string) {
	f.Var(&Value{kind: "string", Raw: true, set: func(text string) string { *to = text; return "" }}, name, usage)
}

// Texts adds a flag that may stand more than once.
func (f Flags) Texts(to *[]string, name, usage string) {
	f.Var(&Value{kind: "stringArray", set: func(text string) string { *to = append(*to, text); return "" }}, name, usage)
}

// Words adds a flag that may stand more than once, and be several words with commas.
func (f Flags) Words(to *[]string, name, usage string) {
	f.Var(&Value{kind: "strings", set: func(text string) string {
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

// Count adds a flag that is a whole number from low to high. to holds what it is where the flag is not given.
func (f Flags) Count(to *int, name string, low, high int, usage string) {
	f.Var(&Value{kind: "int", text: shownDefault(*to), set: func(text string) string {
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

// Rate adds a flag that is a number above zero.
func (f Flags) Rate(to *float64, name, usage string) {
	f.Var(&Value{kind: "float", set: func(text string) string {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !decimalNumber.MatchString(text) || n <= 0 {
			return "must be a number above 0, such as 50 or 0.5"
		}
		*to = n
		return ""
	}}, name, usage)
}

// Length adds a flag that is a duration from low to high. to holds what it is where the flag is not given.
func (f Flags) Length(to *time.Duration, name string, low, high time.Duration, usage string) {
	v := &Value{kind: "duration", set: func(text string) string {
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

// Instant adds a flag that is a time.
func (f Flags) Instant(to *time.Time, name, usage string) {
	f.Var(&Value{kind: "time", set: func(text string) (rule string) {
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

// Waits adds a flag that is a list of durations.
func (f Flags) Waits(to *[]time.Duration, name, usage string) {
	f.Var(&Value{kind: "durations", set: func(text string) string {
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

// FlagFault says which rule a flag breaks, and nothing of the value: it may be a secret.
func FlagFault(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return Usage("%s", err)
	}
	flag := invalid.GetFlag()
	if flag.Value.Type() == "bool" {
		return Usage("--%s must be true or false", flag.Name)
	}
	return Usage("--%s %s", flag.Name, invalid.Unwrap())
}

// TenantFilter selects all things, those of one tenant, or those without a tenant.
type TenantFilter struct {
	name string
	none bool
}

// Add adds --tenant and --no-tenant.
func (t *TenantFilter) Add(c *cobra.Command) {
	FlagsOf(c).Text(&t.name, "tenant", "of this tenant")
	c.Flags().BoolVar(&t.none, "no-tenant", false, "only those without a tenant")
}

// Filter is nil for all.
func (t *TenantFilter) Filter() (*string, error) {
	switch {
	case t.name != "" && t.none:
		return nil, Usage("--tenant and --no-tenant exclude one another")
	case t.name == "" && !t.none:
		return nil, nil
	}
	return &t.name, nil
}

// Args checks how many arguments stand, and that none is empty; most below 0 means any number.
func Args(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		for i, arg := range args {
			switch {
			case arg == "":
				return Usage("%s: argument %d is empty; it wants %s", c.CommandPath(), i+1, what)
			case !utf8.ValidString(arg):
				return Usage("%s: argument %d must be valid UTF-8", c.CommandPath(), i+1)
			}
		}
		if len(args) < least || most >= 0 && len(args) > most {
			return Usage("%s wants %s; it got %d argument(s)", c.CommandPath(), what, len(args))
		}
		return nil
	}
}

// Words tells shells what a flag can be.
func Words(c *cobra.Command, flag string, list ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the flag is one of ours
	}
}

// Expiry adds a flag that is a duration from now, or an instant.
func (f Flags) Expiry(to *time.Time, now func() time.Time, name, usage string) {
	f.Var(&Value{kind: "string", set: func(text string) (rule string) {
		if d, ok := core.ReadDuration(text); ok {
			if d <= 0 || d > core.MaxDelay {
				return "must lie ahead, and within 876000h (100 years)"
			}
			*to = now().Add(d)
			return ""
		}
		if *to, rule = readInstant(text); rule != "" {
			return `must be a duration such as "720h" or a time such as "2030-01-01T00:00:00Z"`
		}
		return ""
	}}, name, usage)
}
