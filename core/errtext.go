package core

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// truncatedMark ends a text that was truncated.
const truncatedMark = "… (truncated)"

// CleanText makes text fit to be stored and shown: NUL becomes U+FFFD, invalid UTF-8 is repaired, and text beyond limit
// bytes is cut at a rune boundary and marked. It never reads more than limit bytes and one rune of text.
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

// ErrorText is err.Error(), also if that panics.
func ErrorText(err error) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprintf("%T: its Error method panicked", err)
		}
	}()
	return err.Error()
}

// AppendError returns a copy of history with e added, its text cleaned. Beyond MaxErrors it drops the oldest.
func AppendError(history []AttemptError, e AttemptError) []AttemptError {
	e.Error = CleanText(e.Error, MaxErrorBytes)
	if drop := len(history) + 1 - MaxErrors; drop > 0 {
		history = history[drop:]
	}
	all := make([]AttemptError, 0, len(history)+1)
	return append(append(all, history...), e)
}

// patterns replace the parts of an error's text that vary. They mean the same in Go and in PostgreSQL, where
// belfry.error_group does the same: no alternatives, no \b, only ASCII classes.
var patterns = []struct {
	of *regexp.Regexp
	is string
}{
	{regexp.MustCompile(`"[^"]*"`), "?"},
	{regexp.MustCompile("`[^`]*`"), "?"},
	{regexp.MustCompile(`(^|[^A-Za-z0-9_])'[^']*'`), "${1}?"},
	{regexp.MustCompile(`[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`), "?"},
	{regexp.MustCompile(`[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]*`), "?"}, // IPv6, times of day
	{regexp.MustCompile(`[A-Za-z_]*[0-9][A-Za-z0-9_]*`), "?"},              // numbers, hexadecimal, names with a number
	{regexp.MustCompile(`[?]([.:,/+@-]+[?])+`), "?"},                       // adjacent ones: 10.0.0.1:80
	{regexp.MustCompile(`[ \t\r\n]+`), " "},
}

const (
	groupRead = 1000 // characters of a text that count
	groupKept = 200  // of the remaining text
)

// ErrorGroup is the group of a dead letter: 16 hexadecimal digits over its type, and the kind and text of its last error, in
// which numbers, ids, addresses and quoted parts count as the same. A dead letter without errors has a group too. It is the
// same in every store and version, because users store it.
func ErrorGroup(typ string, errs []AttemptError) string {
	kind, text := "", ""
	if n := len(errs); n > 0 {
		kind, text = errs[n-1].Kind, firstRunes(errs[n-1].Error, groupRead)
	}
	for _, p := range patterns {
		text = p.of.ReplaceAllString(text, p.is)
	}
	sum := sha256.Sum256([]byte(typ + "\x1f" + kind + "\x1f" + firstRunes(text, groupKept)))
	return hex.EncodeToString(sum[:8])
}

// firstRunes returns the first n characters of text.
func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
