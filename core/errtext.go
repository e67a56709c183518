package core

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// truncatedMark ends a text that was cut.
const truncatedMark = "… (truncated)"

// CleanText makes text fit to be stored and shown: NUL becomes U+FFFD, invalid UTF-8 is repaired, and what
// goes beyond limit bytes is cut at a rune boundary and marked. It never looks at more than limit bytes and
// one rune, however long text is.
func CleanText(text string, limit int) string {
	cut := len(text) > limit
	if cut {
		text = text[:runeStart(text, limit)]
	}
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !cut && len(text) <= limit {
		return text
	}
	// Repairing made it longer, or it was cut: the mark needs room too.
	if limit < len(truncatedMark) {
		return text[:runeStart(text, limit)]
	}
	return text[:runeStart(text, limit-len(truncatedMark))] + truncatedMark
}

// runeStart returns the largest i ≤ n, at most a rune away, at which a rune of text begins.
func runeStart(text string, n int) int {
	if n >= len(text) {
		return len(text)
	}
	for i := n; i >= 0 && i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return max(n, 0)
}

// errorText is err.Error(), also where that panics.
func errorText(err error) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprintf("%T: its Error method panicked", err)
		}
	}()
	return err.Error()
}

// AppendError returns history with e added, its text cleaned, the oldest dropped beyond MaxErrors. It never
// changes history.
func AppendError(history []AttemptError, e AttemptError) []AttemptError {
	e.Error = CleanText(e.Error, MaxErrorBytes)
	if drop := len(history) + 1 - MaxErrors; drop > 0 {
		history = history[drop:]
	}
	all := make([]AttemptError, 0, len(history)+1)
	return append(append(all, history...), e)
}
