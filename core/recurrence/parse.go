package recurrence

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// MaxExpression is the maximum length of an expression in bytes. Even every value of all six fields written out takes only
// half of it.
const MaxExpression = 1000

// named are the expressions that have a name.
var named = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// expression is a parsed schedule text.
type expression struct {
	zone   string        // of a CRON_TZ= or TZ= prefix
	every  time.Duration // of @every; 0 for the others
	fields *fields       // nil for @every
	texts  []string      // the six fields as written, for messages
	text   string        // without the prefix, with single spaces
}

// parseExpression reads the text. The error's message names the faulty part.
func parseExpression(text string) (expression, error) {
	var e expression
	if len(text) > MaxExpression {
		return e, fmt.Errorf("must be at most %d bytes long", MaxExpression)
	}
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' {
			return e, fmt.Errorf("byte %d is a tab, a control character or no plain ASCII; fields are separated by spaces", i+1)
		}
	}
	words := strings.Fields(text)
	if len(words) > 0 {
		if zone, ok := cutPrefix(words[0]); ok {
			if e.zone = zone; zone == "" {
				return e, errors.New("the zone after TZ= is missing")
			}
			words = words[1:]
		}
	}
	e.text = strings.Join(words, " ")
	if len(words) == 0 {
		return e, errors.New("must have 5 fields, or 6 with seconds first, or a name such as @daily")
	}
	if strings.HasPrefix(words[0], "@") {
		return e, e.parseName(words)
	}
	return e, e.parseFields(words)
}

func cutPrefix(word string) (zone string, ok bool) {
	if zone, ok = strings.CutPrefix(word, "CRON_TZ="); ok {
		return zone, true
	}
	return strings.CutPrefix(word, "TZ=")
}

// parseName reads "@daily" and the other names, and "@every 90s".
func (e *expression) parseName(words []string) error {
	name := strings.ToLower(words[0])
	if name == "@every" {
		if len(words) != 2 {
			return errors.New("@every takes one duration, for instance @every 90s")
		}
		every, err := time.ParseDuration(words[1])
		switch {
		case err != nil:
			return fmt.Errorf("@every: %s is not a duration below 292 years such as 90s or 1h30m", shown(words[1]))
		case every < time.Second:
			return errors.New("@every: must be at least 1s")
		case every%time.Microsecond != 0:
			return errors.New("@every: must be a whole number of microseconds")
		}
		e.every = every
		return nil
	}
	meaning, ok := named[name]
	switch {
	case !ok:
		return fmt.Errorf("%s is none of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and @every", shown(words[0]))
	case len(words) > 1:
		return fmt.Errorf("%s is left over after %s", shown(strings.Join(words[1:], " ")), name)
	}
	return e.parseFields(strings.Fields(meaning))
}

// parseFields reads five fields, or six with seconds first.
func (e *expression) parseFields(words []string) error {
	if len(words) != 5 && len(words) != 6 {
		return fmt.Errorf("must have 5 fields, or 6 with seconds first; it has %d", len(words))
	}
	if len(words) == 5 {
		words = append([]string{"0"}, words...)
	}
	var f fields
	specials := map[int]func(string) (bool, error){
		monthDayField: f.days.specialMonthDay,
		weekDayField:  f.days.specialWeekDay,
	}
	sets := []*uint64{&f.second, &f.minute, &f.hour, &f.days.monthDay, &f.month, &f.days.weekDay}
	for i, word := range words {
		set, err := fieldTable[i].set(word, specials[i])
		if err != nil {
			return fmt.Errorf("%s: %w", fieldTable[i].name, err)
		}
		*sets[i] = set
	}
	f.days.monthDayStar = fieldTable[monthDayField].begins(words[monthDayField])
	f.days.weekDayStar = fieldTable[weekDayField].begins(words[weekDayField])
	f.fixed = true
	for i := secondField; i <= hourField; i++ {
		f.fixed = f.fixed && !fieldTable[i].begins(words[i])
	}
	if !f.exists() {
		return errors.New("day of month: no such date ever comes in those months; to keep a schedule from running, pause it (paused) instead")
	}
	e.fields, e.texts = &f, words
	return nil
}
