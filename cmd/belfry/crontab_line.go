package main

import (
	"fmt"
	"os/user"
	"regexp"
	"slices"
	"strings"
)

// cronAliases are the times with a name that cron knows; @reboot is one of its own.
var cronAliases = []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}

// systemUsers own most lines of system crontabs.
var systemUsers = []string{"root", "nobody", "www-data", "daemon", "bin", "sys", "apache", "nginx", "httpd", "postgres", "mysql", "redis", "toor", "wwwrun", "smmsp", "ubuntu", "debian", "ec2-user", "admin"}

var (
	cronOption   = regexp.MustCompile(`^-[nqs]+$`)
	timeField    = regexp.MustCompile(`^(\*|\?|[0-9]{1,2}(-[0-9]{1,2})?)(/[0-9]{1,2})?(,[0-9]{1,2}(-[0-9]{1,2})?(/[0-9]{1,2})?)*$`)
	userName     = regexp.MustCompile(`^[a-z_][a-z0-9_-]*\$?$`)
	singleStep   = regexp.MustCompile(`(^|,)([0-9]+|[A-Za-z]{3})/[0-9]+(,|$)`)
	secondsAlias = regexp.MustCompile(`^@[0-9]+$`)
)

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
	l.cron = strings.Join(words, " ")
	if kind == systemCrontab {
		l.user = take()
	}
	var options []string
	for line = strings.TrimLeft(line, " \t"); cronOption.MatchString(firstWord(line)); line = strings.TrimLeft(line, " \t") {
		options = append(options, take())
	}
	l.command, l.stdin = cronCommand(line)
	if l.fault = timesFault(words, line); l.fault == "" {
		l.fault = commandFault(&l, line, fields)
	}
	if l.fault == "" {
		l.fault = userFault(&l, kind)
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
		return fmt.Sprintf("@every is not cron's: make a schedule with every: %s", firstWord(strings.TrimLeft(rest, " \t")))
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
	}
	return ""
}

// userFault is why the first word of a command looks like a user, or a user like a command.
func userFault(l *cronLine, kind cronKind) string {
	word := firstWord(l.command)
	switch {
	case timeField.MatchString(word):
		return fmt.Sprintf("its command would be %s …: has the line a field too many? Cron has five", word)
	case kind == systemCrontab && strings.HasPrefix(l.user, "/"):
		return fmt.Sprintf("the user would be %s: a crontab of one user names none; then leave out --system", l.user)
	case kind == ownCrontab && isUser(word, strings.TrimLeft(l.command[len(word):], " \t")):
		return fmt.Sprintf("its command begins with %s, which is a user: if each line of this file names one, give --system; else --system=false", word)
	}
	return ""
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
	return strings.HasPrefix(rest, "/") || slices.Contains([]string{"cd", "test", "[", "if", "command", "exec"}, firstWord(rest))
}
