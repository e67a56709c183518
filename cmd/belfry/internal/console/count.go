package console

import (
	"fmt"
	"strconv"
	"time"
)

// Numbered is a number of things in words.
func Numbered(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// PrintCount says what a dry run found.
func (a *App) PrintCount(name string, n int, sentence string) error {
	if a.JSON {
		return a.PrintValue(map[string]int{name: n})
	}
	fmt.Fprintln(a.Out, sentence)
	return nil
}

// Count shows a number that counting may have stopped at.
func Count(n int, capped bool) string {
	if capped && n >= 100_000 {
		return strconv.Itoa(n) + "+"
	}
	return strconv.Itoa(n)
}

// Short is a duration as people want to read it.
func Short(text string) string {
	d, err := time.ParseDuration(text)
	if err != nil {
		return Clean(text)
	}
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.String()
}
