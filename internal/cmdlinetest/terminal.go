package cmdlinetest

import (
	"fmt"
	"unicode"
)

// Hostile tries to clear the screen, set the title, move the cursor by a C1 control, reorder and break lines.
const Hostile = "a\x1b[2J\x1b]0;owned\x07\u009b31m\u202egnp\u2028b\r\nc\x7f\u200b\U000e0041d"

// Unsafe names the first character that a terminal could act on; "" means none.
func Unsafe(text string) string {
	for _, r := range text {
		if r != '\u200d' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029') {
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}
