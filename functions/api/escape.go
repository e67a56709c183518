package api

import (
	"net/http"
	"net/url"
	"strings"
)

// methodPath is one operation, by what a request names it.
type methodPath struct{ method, path string }

// name is the name in path where this operation has one, and how much stands beside it. ok is false where the operation is
// not meant, whatever the name is.
func (o methodPath) name(method, path string) (name string, before, after string, ok bool) {
	if o.method != method && (o.method != http.MethodGet || method != http.MethodHead) {
		return "", "", "", false
	}
	before, rest, _ := strings.Cut(strings.TrimSuffix(o.path, "{$}"), "{")
	_, after, _ = strings.Cut(rest, "}")
	name, fits := strings.CutPrefix(path, before)
	name, ends := strings.CutSuffix(name, after)
	return name, before, after, rest != "" && fits && ends && name != ""
}

// EscapePath gives its encoding back to a path that was decoded on its way here. What stands where an operation of the
// method has a name becomes that name, slashes and all; an operation that the path fits as it stands goes first, then the
// one that has most beside the name: a/b/next is the next of a/b.
func (a *API) EscapePath(method, path string) string {
	best, beside := (&url.URL{Path: path}).EscapedPath(), -1
	for _, o := range a.operations {
		name, before, after, ok := o.name(method, path)
		switch {
		case path == o.path, ok && !strings.Contains(name, "/"):
			return (&url.URL{Path: path}).EscapedPath()
		case ok && len(before)+len(after) > beside:
			best, beside = before+url.PathEscape(name)+after, len(before)+len(after)
		}
	}
	return best
}
