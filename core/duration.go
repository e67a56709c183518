package core

import (
	"math"
	"regexp"
	"strings"
	"time"
)

// durationShape is a duration as Go writes it: numbers, each with its unit.
var durationShape = regexp.MustCompile(`^[-+]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+$`)

// ReadDuration reads a duration as Go writes it, such as "90s" or "1h30m". A bare "0" is none. One that is longer than a
// time.Duration holds, 292 years, comes back as the longest there is, so that the rule it breaks is the one about its
// bounds. ok is false for what is no duration.
func ReadDuration(text string) (d time.Duration, ok bool) {
	d, err := time.ParseDuration(text)
	switch {
	case err == nil:
		return d, strings.TrimLeft(text, "+-") != "0"
	case !durationShape.MatchString(text):
		return 0, false
	case strings.HasPrefix(text, "-"):
		return math.MinInt64, true
	}
	return math.MaxInt64, true
}
