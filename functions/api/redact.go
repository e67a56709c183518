package api

import (
	"regexp"

	"github.com/belfry-dev/belfry/core"
)

// maxLogged bounds an error's text in the log.
const maxLogged = 500

var (
	userinfo = regexp.MustCompile(`://[^\s/@]*@`)
	secret   = regexp.MustCompile(`(?i)(password|passwd|pwd|token|secret|authorization|sslpassword)(["']?\s*[=:]\s*)("[^"]*"|'[^']*'|(bearer\s+)?[^\s,;&)}]+)`)
	rawQuery = regexp.MustCompile(`(://[^\s?"']*\?)[^\s"']*`)
)

// redact takes out of an error's text what it may have picked up on the way: users and passwords in URLs,
// their queries, and what follows words like password.
func redact(text string) string {
	text = userinfo.ReplaceAllString(text, "://xxx@")
	text = rawQuery.ReplaceAllString(text, "${1}xxx")
	text = secret.ReplaceAllString(text, "${1}${2}xxx")
	return core.CleanText(text, maxLogged)
}
