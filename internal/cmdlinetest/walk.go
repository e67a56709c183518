// Package cmdlinetest holds the flags of programs against the rules of package cmdline, and what they print against what a
// terminal could act on.
package cmdlinetest

import (
	"errors"
	"flag"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/cmd/cmdline"
)

// goIsms are what only readers of Go's library know.
var goIsms = regexp.MustCompile(`strconv|time: |parsing "|ParseInt|invalid syntax|out of range|missing unit|unknown unit|parse error|%!|json: `)

// Walk gives every flag that a program's help lists values that nobody can mean, after the flags of before, and wants each
// to be refused as a wrong command line, by the flag's name. The values hold "canary", which no error may repeat.
func Walk(t *testing.T, parse func(args []string, errs io.Writer) error, before ...string) {
	t.Helper()
	var help strings.Builder
	if err := parse([]string{"-help"}, &help); !errors.Is(err, flag.ErrHelp) {
		t.Fatalf("-help: %v", err)
	}
	flags := regexp.MustCompile(`(?m)^  -([a-z-]+)(?: (\w+))?`).FindAllStringSubmatch(help.String(), -1)
	tried := 0
	for _, f := range flags {
		name, kind := f[1], f[2]
		values := []string{"", "canary\xe9", "\xff\xfe"}
		switch kind {
		case "int":
			values = append(values, "0", "-1", "1.5", "canary", "99999999999999999999", "0s")
		case "duration":
			values = append(values, "0", "5", "1d", "0s", "-1s", "9999999h", "canary")
		case "":
			values = append(values, "canary", "2")
		}
		for _, value := range values {
			tried++
			err := parse(append(append([]string{}, before...), "-"+name+"="+value), io.Discard)
			if err == nil || cmdline.ExitCode(err) != 2 || !strings.Contains(err.Error(), "-"+name) || strings.Contains(err.Error(), "canary") || goIsms.MatchString(err.Error()) {
				t.Errorf("-%s=%q: %v", name, value, err)
			}
		}
	}
	if len(flags) < 2 {
		t.Errorf("the help lists %d flags:\n%s", len(flags), help.String())
	}
	t.Logf("%d flags, %d values", len(flags), tried)
}
