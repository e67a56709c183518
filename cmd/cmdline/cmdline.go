// Package cmdline reads the flags of programs that have few of them, by one rule: a flag that is given is meant.
package cmdline

import (
	"errors"
	"flag"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/belfry-dev/belfry/core"
)

// Error is a command line that makes no sense.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

// ExitCode is what a program ends with: 2 where it was called wrongly, 1 after any other error.
func ExitCode(err error) int {
	if errors.As(err, new(*Error)) {
		return 2
	}
	return 1
}

// Errorf returns an Error.
func Errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Wrong makes an Error of an error about the command line; nil and flag.ErrHelp stay what they are.
func Wrong(err error) error {
	if err == nil || err == flag.ErrHelp { //nolint:errorlint // flag returns it as it is
		return err
	}
	return &Error{err.Error()}
}

// Parse reads args as f.Parse does. A flag that is given without a value, or with one that is not text in UTF-8 or not of
// the flag's kind, is an Error that names the flag and does not repeat the value, which may be a secret.
func Parse(f *flag.FlagSet, args []string) error {
	var faults []error
	plain := map[*flag.Flag]flag.Value{}
	f.VisitAll(func(one *flag.Flag) {
		plain[one] = one.Value
		one.Value = given{one.Value, func(fault string) { faults = append(faults, Errorf("-%s: %s", one.Name, fault)) }}
	})
	restore := func() {
		for one, value := range plain {
			one.Value = value
		}
	}
	usage := f.Usage
	f.Usage = func() { // it tells flags that are zero by their own types
		restore()
		if usage != nil {
			usage()
			return
		}
		fmt.Fprintf(f.Output(), "Usage of %s:\n", f.Name())
		f.PrintDefaults()
	}
	err := f.Parse(args)
	restore()
	if f.Usage = usage; err == nil && len(faults) > 0 {
		return faults[0]
	}
	return Wrong(err)
}

// given is a flag's value that notes what is wrong with what is given for it.
type given struct {
	flag.Value
	fault func(string)
}

// String is also asked of the zero value.
func (g given) String() string {
	if g.Value == nil {
		return ""
	}
	return g.Value.String()
}

// IsBoolFlag tells whether the flag may stand without a value.
func (g given) IsBoolFlag() bool {
	b, is := g.Value.(interface{ IsBoolFlag() bool })
	return is && b.IsBoolFlag()
}

func (g given) Set(text string) error {
	switch {
	case text == "":
		g.fault("is given, but empty: give it a value, or leave it out")
		return nil
	case !utf8.ValidString(text):
		g.fault("must be valid UTF-8")
		return nil
	}
	kind, _ := g.Value.(flag.Getter)
	if kind == nil {
		return g.Value.Set(text)
	}
	switch kind.Get().(type) {
	case time.Duration:
		d, ok := core.ReadDuration(text)
		if !ok {
			g.fault(`want a duration such as "90s" or "1h30m"`)
			return nil
		}
		text = d.String()
	case int:
		if g.Value.Set(text) != nil {
			g.fault("want a whole number")
		}
		return nil
	case bool:
		if g.Value.Set(text) != nil {
			g.fault("want true or false")
		}
		return nil
	}
	return g.Value.Set(text)
}
