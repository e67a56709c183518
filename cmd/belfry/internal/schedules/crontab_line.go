package schedules

import (
	"fmt"
	"os/user"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cronAliases are the times with a name that cron knows; @reboot is one of its own.
var cronAliases = []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}

// systemUsers own most lines of system crontabs.
var systemUsers = []string{"root", "nobody", "www-data", "daemon", "bin", "sys", "apache", "nginx", "httpd", "postgres", "mysql", "redis", "toor", "wwwrun", "smmsp", "ubuntu", "debian", "ec2-user", "admin"}

var (
	cronOption   = regexp.MustCompile(`^-[nqs]+$`)
	timeField    = cronField()
	cronRange    = regexp.MustCompile(`^([0-9]+|[A-Za-z]{3})-([0-9]+|[A-Za-z]{3})(/.*)?$`)
	userName     = regexp.MustCompile(`^[a-z_][a-z0-9_-]*\$?$`)
	singleStep   = regexp.MustCompile(`(^|,)([0-9]+|[A-Za-z]{3})/[0-9]+(,|$)`)
	secondsAlias = regexp.MustCompile(`^@[0-9]+$`)
)

// cronField is what a field of times looks like, to cron and to those that have six or seven: numbers, years, names, L, W and #.
func cronField() *regexp.Regexp {
	const number = `[0-9]{1,2}|[12][0-9]{3}`
	const name = `(?:sun|mon|tue|wed|thu|fri|sat)(?:[a-z]*day)?|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec`
	const value = `(?:` + number + `|` + name + `)`
	const item = `(?:\*|\?|LW|L(?:-[0-9]{1,2})?|` + value + `(?:-` + value + `|#[1-5]|[LW])?)(?:/[0-9]{1,2})?`
	return regexp.MustCompile(`(?i)^` + item + `(?:,` + item + `)*$`)
}

// readCronLine reads the line of a job.
func readCronLine(line string, kind cronKind) (l cronLine) {
	take := func() string {
		line = strings.TrimLeft(line, " \t")
		word := firstWord(line)
		line = line[len(word):]
		return word
	}
	if len(line) > 1 && line[0] == '-' { // cron does not log such a line
		line = strings.TrimLeft(line[1:], " \t")
		l.notes = append(l.notes, "the - before its times, which keeps cron from logging it, is left out")
	}
	fields := 5
	if strings.HasPrefix(line, "@") {
		fields = 1
	}
	var words []string
	for range fields {
		words = append(words, take())
	}
	times := line
	l.cron = strings.Join(words, " ")
	if kind == systemCrontab {
		l.user = take()
	}
	var options []string
	for line = strings.TrimLeft(line, " \t"); cronOption.MatchString(firstWord(line)); line = strings.TrimLeft(line, " \t") {
		options = append(options, take())
	}
	l.command, l.stdin = cronCommand(line)
	if l.fault = timesFault(words, times); l.fault == "" {
		l.fault = commandFault(&l, line, fields)
	}
	if l.fault == "" {
		l.userFault(kind)
	}
	if all := strings.Join(options, " "); all != "" {
		note := "the options " + all + " before its command are left out"
		if strings.Contains(all, "s") {
			note += "; for -s, one run at a time, set overlap: skip"
		}
		l.notes = append(l.notes, note)
	}
	return l
}

// timesFault is why the times of a line do not mean here what they mean to cron; of the rest the server judges.
func timesFault(words []string, rest string) string {
	first := words[0]
	switch {
	case strings.EqualFold(first, "@reboot"):
		return "@reboot: a schedule follows the clock, not a machine's starts"
	case strings.EqualFold(first, "@every"):
		return strings.TrimSuffix("@every is not cron's: make a schedule with every: "+firstWord(strings.TrimLeft(rest, " \t")), ": ")
	case first == "@every_minute":
		return "@every_minute: write * * * * *"
	case first == "@every_second", secondsAlias.MatchString(first):
		return first + " is FreeBSD's: make a schedule with every"
	case strings.HasPrefix(first, "@") && !slices.Contains(cronAliases, first):
		return first + " is no time of cron's, which are @reboot, " + strings.Join(cronAliases, ", ")
	}
	for i, field := range words {
		name := []string{"minute", "hour", "day of month", "month", "day of week"}[i]
		if step := singleStep.FindStringSubmatch(field); step != nil {
			return fmt.Sprintf("%s: to cron %s means %s alone, and here it goes on from there by steps: write %s, or a range with its step", name, strings.Trim(step[0], ","), step[2], step[2])
		}
		if strings.Contains(field, "~") {
			return name + ": a ~ is a time that cron chooses by chance: write a fixed one, and set jitter"
		}
		for item := range strings.SplitSeq(field, ",") {
			if instead := reversed(i, item); instead != "" {
				return fmt.Sprintf("%s: %s runs backwards: cron refuses it or never runs it, and here it goes on past the end: write %s where that is meant", name, item, instead)
			}
		}
	}
	return ""
}

// cronValues are the values of the five fields, in their order, with the names that some have.
var cronValues = [...]struct {
	first, last int
	names       []string
}{
	{last: 59}, {last: 23}, {first: 1, last: 31},
	{1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{0, 6, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// reversed is what to write instead of a range whose end is before its beginning; "" for any other item.
func reversed(field int, item string) string {
	m := cronRange.FindStringSubmatch(item)
	if m == nil {
		return ""
	}
	of := cronValues[field]
	value := func(text string) int {
		if n := slices.Index(of.names, strings.ToLower(text)); n >= 0 {
			return of.first + n
		}
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
		return -1
	}
	word := func(n int) string {
		if _, err := strconv.Atoi(m[1]); err != nil {
			return of.names[n-of.first]
		}
		return strconv.Itoa(n)
	}
	span := func(from, to int) string {
		if from == to {
			return word(from)
		}
		return word(from) + "-" + word(to)
	}
	switch low, high := value(m[1]), value(m[2]); {
	case high < of.first || low <= high || low > of.last && (field != 4 || low != 7):
		return ""
	case m[3] != "":
		return "each of its values"
	case low == 7: // Sunday, which is 0 too
		return span(0, high)
	default:
		return span(low, of.last) + "," + span(of.first, high)
	}
}

// userFault finds a first word of a command that looks like a field of times or a user, and a user that looks like either.
func (l *cronLine) userFault(kind cronKind) {
	word := firstWord(l.command)
	switch {
	case kind == systemCrontab && timeField.MatchString(l.user) && !userName.MatchString(l.user): // a user may be called jan
		l.fault = fmt.Sprintf("the user would be %s: has the line a field too many? Cron has five before the user", l.user)
	case timeField.MatchString(word):
		l.fault = fmt.Sprintf("its command would be %s …: has the line a field too many? Cron has five", word)
	case kind == systemCrontab && strings.HasPrefix(l.user, "-"):
		l.fault = fmt.Sprintf("the user would be %s: options such as -n stand behind the user", l.user)
	case kind == systemCrontab && strings.HasPrefix(l.user, "/"):
		l.fault = fmt.Sprintf("the user would be %s: a crontab of one user names none; then leave out --system", l.user)
	case kind == ownCrontab && isUser(word, strings.TrimLeft(l.command[len(word):], " \t")):
		l.namesUser = true
		l.fault = fmt.Sprintf("its command begins with %s, which is a user: if each line of this file names one, give --system; else --system=false", word)
	}
}

// suspectUsers takes back lines of the form USER COMMAND where another line of the file surely looks like one of that form.
func suspectUsers(lines []cronLine) {
	sure := slices.IndexFunc(lines, func(l cronLine) bool { return l.namesUser })
	if sure < 0 {
		return
	}
	for i := range lines {
		l := &lines[i]
		word := firstWord(l.command)
		if l.fault == "" && userName.MatchString(word) && beginsCommand(strings.TrimLeft(l.command[len(word):], " \t")) {
			l.fault = fmt.Sprintf("its command begins with %s, which is a user if each line of this file names one, as line %d seems to: give --system; else --system=false", word, lines[sure].number)
		}
	}
}

// isUser reports whether the first word of a command is a user who runs the rest: one that systems have, or one of
// this machine that is no program's name, before the path of a program.
func isUser(word, rest string) bool {
	if rest == "" || !userName.MatchString(word) {
		return false
	}
	if slices.Contains(systemUsers, word) {
		return true
	}
	if _, err := user.Lookup(word); err != nil {
		return false
	}
	return beginsCommand(rest)
}

// beginsCommand reports whether a text begins as few but commands do.
func beginsCommand(text string) bool {
	return strings.HasPrefix(text, "/") || slices.Contains([]string{"cd", "test", "[", "if", "command", "exec"}, firstWord(text))
}
