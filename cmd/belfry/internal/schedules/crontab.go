package schedules

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
	"github.com/belfry-dev/belfry/core/jsonscan"
)

// cronLine is a line of a crontab that was read: a job, or why it is none.
type cronLine struct {
	number         int
	cron, zone     string
	user           string
	command, stdin string
	name           string
	fault          string   // why it was not taken
	notes          []string // what becomes of parts of it
	variable       bool     // it is no job
	namesUser      bool     // its command begins with a user, or so it looks
}

// maxCronCommand bounds the command of a line with its input, so that both are a payload however they are escaped.
const maxCronCommand = 128 << 10

// noNames are names that no path of the API can carry.
var noNames = []string{".", "..", "preview"}

var (
	cronVariable = regexp.MustCompile(`^("[^"]*"|'[^']*'|[^\s=]+)\s*=\s*(.*)$`)
	nameParts    = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
)

// cronKind is whether each line of a crontab names a user before its command.
type cronKind int

const (
	ownCrontab    cronKind = iota // it does not, but may be one that does by mistake
	systemCrontab                 // it does
	surelyOwn                     // it does not, as was said
)

// readCrontab reads a crontab line by line. Lines that are nothing (blank, comments) are left out; what cannot be taken
// comes back with its reason.
func readCrontab(text, zone string, kind cronKind) (found []cronLine) {
	zoneFault := ""
	for i, line := range strings.Split(strings.TrimPrefix(text, jsonscan.ByteOrderMark), "\n") {
		line = strings.TrimLeft(strings.TrimSuffix(line, "\r"), " \t")
		if line == "" || line[0] == '#' {
			continue
		}
		if m := cronVariable.FindStringSubmatch(line); m != nil {
			name, value := withoutQuotes(m[1]), withoutQuotes(strings.TrimSpace(m[2]))
			if name != "CRON_TZ" {
				found = append(found, cronLine{number: i + 1, variable: true, fault: variableFault(name)})
				continue
			}
			if zone, zoneFault = value, ""; value == "" {
				zoneFault = fmt.Sprintf("the CRON_TZ above it, on line %d, is empty: which zone is meant?", i+1)
				found = append(found, cronLine{number: i + 1, fault: "CRON_TZ is empty: give it a zone, or leave it out"})
			}
			continue
		}
		l := readCronLine(line, kind)
		l.number, l.zone = i+1, zone
		if l.fault == "" {
			l.fault = zoneFault
		}
		found = append(found, l)
	}
	suspectUsers(found)
	names := map[string]int{}
	for _, name := range noNames {
		names[name] = 1
	}
	for i := range found {
		if l := &found[i]; l.fault == "" {
			l.name = cronName(l.command, names)
		}
	}
	return found
}

// withoutQuotes is a text without the quotes around it.
func withoutQuotes(text string) string {
	if n := len(text); n >= 2 && text[0] == text[n-1] && (text[0] == '"' || text[0] == '\'') {
		return text[1 : n-1]
	}
	return text
}

func variableFault(name string) string {
	switch name {
	case "MAILTO", "MAILFROM":
		return "the variable " + name + ": nothing is mailed; set expect_within, and BELFRY_ALERT_URL"
	case "RANDOM_DELAY":
		return "the variable RANDOM_DELAY: set jitter instead"
	case "TZ":
		return "the variable TZ: it is the zone of the commands, and not of the times at which they run; CRON_TZ and --time-zone are"
	}
	return "the variable " + name + ": the environment of commands is the handler's matter"
}

// cronCommand takes the command from its input: the first % that has no \ before it ends the command, further ones are
// line ends of what it reads, which ends with one.
func cronCommand(text string) (command, stdin string) {
	var parts []string
	var part strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text):
			if i++; text[i] != '%' {
				part.WriteByte('\\')
			}
			part.WriteByte(text[i])
		case text[i] == '%':
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteByte(text[i])
		}
	}
	parts = append(parts, part.String())
	if stdin = strings.Join(parts[1:], "\n"); stdin != "" && !strings.HasSuffix(stdin, "\n") {
		stdin += "\n"
	}
	return strings.TrimRight(parts[0], " \t"), stdin
}

// commandFault is why a command cannot be taken.
func commandFault(l *cronLine, rest string, fields int) string {
	switch {
	case l.command == "":
		return fmt.Sprintf("no command stands behind %s", console.Numbered(fields, "field"))
	case len(l.command)+len(l.stdin) > maxCronCommand:
		return fmt.Sprintf("the command is longer than %d bytes", maxCronCommand)
	case !utf8.ValidString(rest + l.user), strings.ContainsRune(rest+l.user, 0):
		return "the command holds bytes that are no text (UTF-8)"
	}
	return ""
}

// cronName names a job by the program it runs; those of one program are numbered.
func cronName(command string, names map[string]int) string {
	word := firstWord(command)
	name := strings.Trim(nameParts.ReplaceAllString(path.Base(word), "-"), "-.")
	if name == "" {
		name = "job"
	}
	if len(name) > 100 {
		name = name[:100]
	}
	for {
		names[name]++
		if names[name] == 1 {
			return name
		}
		numbered := fmt.Sprintf("%s-%d", name, names[name])
		if names[numbered] == 0 {
			names[numbered]++
			return numbered
		}
	}
}

func firstWord(text string) string {
	if end := strings.IndexAny(text, " \t"); end >= 0 {
		return text[:end]
	}
	return text
}
