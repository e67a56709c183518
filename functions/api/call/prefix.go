package call

import (
	"net/http"
	"regexp"
	"strings"
)

// PrefixHeader is where a proxy says what comes before the paths that it passes on; several proxies add theirs with commas,
// the outermost first.
const PrefixHeader = "X-Forwarded-Prefix"

// prefixForm is a path that cannot be taken for anything else: no empty part, no dots alone, nothing of another host.
var prefixForm = regexp.MustCompile(`^(/[A-Za-z0-9._~%-]*[A-Za-z0-9_~%-])+$`)

const maxPrefix = 256

// PrefixOf is what comes before this server's paths in the eyes of a request's caller: "" where no proxy says so, or nothing
// sensible. Whoever makes the header up misleads himself only: no answer that has it in it may be kept for another.
func PrefixOf(r *http.Request) string {
	var prefix strings.Builder
	for part := range strings.SplitSeq(strings.Join(r.Header.Values(PrefixHeader), ","), ",") {
		part = strings.TrimRight(strings.TrimSpace(part), "/")
		if part == "" {
			continue
		}
		if prefix.WriteString(part); prefix.Len() > maxPrefix || !prefixForm.MatchString(part) {
			return ""
		}
	}
	return prefix.String()
}
