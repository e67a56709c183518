package recurrence

import (
	"fmt"
	"math/bits"
	"strings"
)

// each is a set of minutes or seconds in words: "every 15 minutes", "at minutes 5 and 20".
func each(set uint64, unit string, size int) string {
	if step := stepOf(set, size); step > 0 {
		return fmt.Sprintf("every %d %ss", step, unit)
	}
	return "at " + unit + plural(set) + " " + list(numbers(set, "%d"), "and")
}

// stepOf returns the step of a set that starts at 0 and wraps around evenly. It returns 0 for other sets and for a single
// value.
func stepOf(set uint64, size int) int {
	n := bits.OnesCount64(set)
	if n < 2 || size%n != 0 {
		return 0
	}
	for at := 0; at < size; at += size / n {
		if set>>at&1 == 0 {
			return 0
		}
	}
	return size / n
}

func plural(set uint64) string {
	if bits.OnesCount64(set) == 1 {
		return ""
	}
	return "s"
}

// numbers lists a set; three or more values in a row become a range.
func numbers(set uint64, format string) []string {
	var found []string
	for n := 0; n < 64; n++ {
		if set>>n&1 == 0 {
			continue
		}
		last := n
		for last < 63 && set>>(last+1)&1 != 0 {
			last++
		}
		switch {
		case last-n >= 2:
			found = append(found, fmt.Sprintf(format+" to "+format, n, last))
			n = last
		default:
			found = append(found, fmt.Sprintf(format, n))
		}
	}
	return found
}

func names(set uint64, last int, name func(int) string) []string {
	var found []string
	for n := 0; n <= last; n++ {
		if set>>n&1 != 0 {
			found = append(found, name(n))
		}
	}
	return found
}

// list joins parts: "a", "a and b", "a, b and c".
func list(parts []string, word string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " " + word + " " + parts[len(parts)-1]
}
