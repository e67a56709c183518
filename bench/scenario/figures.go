package scenario

import (
	"fmt"
	"strings"
)

// String writes the figures on one line, in the order of Metrics.
func (f Figures) String() string {
	var parts []string
	for _, metric := range Metrics {
		if value, ok := f[metric]; ok {
			parts = append(parts, Number(value)+" "+string(metric))
		}
	}
	return strings.Join(parts, ", ")
}

// Number writes three significant digits at least, with thousands set apart.
func Number(value float64) string {
	switch {
	case value < 10:
		return fmt.Sprintf("%.2f", value)
	case value < 100:
		return fmt.Sprintf("%.1f", value)
	case value < 1000:
		return fmt.Sprintf("%.0f", value)
	}
	digits := fmt.Sprintf("%.0f", value)
	var b strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}
