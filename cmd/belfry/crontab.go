package main

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// cronLine is a line of a crontab that was read: a job, or why it is none.
type cronLine struct {
	number         int
	cron, zone     string
	user           string
	command, stdin string
	name           string
	fault          string // why it was not taken
	variable       bool   // it is no job
}

// maxCronCommand bounds the command of a line with its input, so that both are a payload however they are escaped.
const maxCronCommand = 128 << 10

// noNames are names that no path of the API can carry.
var noNames = []string{".", "..", "preview"}

var (
	cronVariable = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*|"[^"]*"|'[^']*')\s*=\s*(.*)$`)
	nameParts    = regexp.MustCompile(`[^A-Za-z0-9._-]+`)
)

// readCrontab reads a crontab line by line. With system each job names its user before the command. Lines that are
// nothing (blank, comments) are left out; what cannot be taken comes back with its reason.
func readCrontab(text, zone string, system bool) (found []cronLine) {
	names := map[string]int{}
	for _, name := range noNames {
		names[name] = 1
	}
	text = strings.TrimPrefix(text, "\ufeff")
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimLeft(strings.TrimSuffix(line, "\r"), " \t")
		if line == "" || line[0] == '#' {
			continue
		}
		if m := cronVariable.FindStringSubmatch(line); m != nil {
			name, value := strings.Trim(m[1], `"'`), strings.Trim(strings.TrimSpace(m[2]), `"'`)
			if name == "CRON_TZ" || name == "TZ" {
				zone = value
				continue
			}
			found = append(found, cronLine{number: i + 1, variable: true, fault: variableFault(name)})
			continue
		}
		l := readCronLine(line, system)
		l.number, l.zone = i+1, zone
		if l.fault == "" {
			l.name = cronName(l.command, names)
		}
		found = append(found, l)
	}
	return found
}

func variableFault(name string) string {
	switch name {
	case "MAILTO", "MAILFROM":
		return "the variable " + name + ": nothing is mailed; set expect_within, and BELFRY_ALERT_URL"
	case "RANDOM_DELAY":
		return "the variable RANDOM_DELAY: set jitter instead"
	}
	return "the variable " + name + ": the environment of commands is the handler's matter"
}

// readCronLine reads the line of a job.
func readCronLine(line string, system bool) (l cronLine) {
	take := func() string {
		line = strings.TrimLeft(line, " \t")
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		word := line[:end]
		line = line[end:]
		return word
	}
	fields := 5
	if strings.HasPrefix(line, "@") {
		fields = 1
	}
	var words []string
	for range fields {
		words = append(words, take())
	}
	l.cron = strings.Join(words, " ")
	if system {
		l.user = take()
	}
	l.command, l.stdin = cronCommand(strings.TrimLeft(line, " \t"))
	switch {
	case strings.EqualFold(l.cron, "@reboot"):
		l.fault = "@reboot: a schedule follows the clock, not a machine's starts"
	case l.command == "":
		l.fault = fmt.Sprintf("no command stands behind %s", numbered(fields, "field"))
	case len(l.command)+len(l.stdin) > maxCronCommand:
		l.fault = fmt.Sprintf("the command is longer than %d bytes", maxCronCommand)
	case !utf8.ValidString(line + l.user), strings.ContainsRune(line+l.user, 0):
		l.fault = "the command holds bytes that are no text (UTF-8)"
	}
	return l
}

// cronCommand takes the command from its input: the first % that has no \ before it ends the command, further ones are
// line ends of what it reads.
func cronCommand(text string) (command, stdin string) {
	var parts []string
	var part strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == '%':
			part.WriteByte('%')
			i++
		case text[i] == '%':
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteByte(text[i])
		}
	}
	parts = append(parts, part.String())
	if len(parts) > 1 {
		stdin = strings.Join(parts[1:], "\n") + "\n"
	}
	return strings.TrimRight(parts[0], " \t"), stdin
}

// cronName names a job by the program it runs; those of one program are numbered.
func cronName(command string, names map[string]int) string {
	word := command
	if end := strings.IndexAny(command, " \t"); end >= 0 {
		word = command[:end]
	}
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
