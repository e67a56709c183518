package schedules

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// The headers that make a write depend on the version it meets.
const (
	MatchHeader     = "If-Match"
	NoneMatchHeader = "If-None-Match"
)

// etag is the ETag of a version.
func etag(version int64) string { return strconv.Quote(strconv.FormatInt(version, 10)) }

// What If-Match and If-None-Match look like by RFC 9110: a star, or a list of tags, some of which may be weak.
const (
	tagPattern  = `(W/)?"[!#-~]*"`
	tagsPattern = `^(\*|[ \t,]*` + tagPattern + `([ \t]*,[ \t,]*(` + tagPattern + `)?)*[ \t]*)$`
)

var tagForm, tagsForm = regexp.MustCompile(tagPattern), regexp.MustCompile(tagsPattern)

// condition is one of the two headers.
type condition struct {
	given, star bool
	tags        []string // as they were sent, weak ones with W/
}

// conditions are what a request asks of the version that it meets.
type conditions struct{ match, none condition }

func readConditions(h http.Header) (c conditions, err error) {
	if c.match, err = readCondition(h, MatchHeader); err != nil {
		return c, err
	}
	c.none, err = readCondition(h, NoneMatchHeader)
	return c, err
}

func readCondition(h http.Header, name string) (condition, error) {
	values := h.Values(name)
	if len(values) == 0 {
		return condition{}, nil
	}
	text := strings.TrimSpace(strings.Join(values, ","))
	if !tagsForm.MatchString(text) {
		return condition{}, problem.Field(http.StatusUnprocessableEntity, name, `must be an ETag such as "3" in its quotes, several with commas, or *`)
	}
	return condition{given: true, star: text == "*", tags: tagForm.FindAllString(text, -1)}, nil
}

// holds reports whether the condition If-Match is true of a version: compared strongly, so that no weak tag is.
func (c condition) holds(version int64) bool {
	return c.star || slices.Contains(c.tags, etag(version))
}

// excludes reports whether If-None-Match names a version: compared weakly.
func (c condition) excludes(version int64) bool {
	return c.star || slices.Contains(c.tags, etag(version)) || slices.Contains(c.tags, "W/"+etag(version))
}

// resolve is what the store must find for the conditions to be true. Where one version is all they
// ask for, that is left to the store; for all else the schedule is read, and must then be as it was read. core.ErrStale: a condition is false; core.ErrNotFound:
// If-Match is, for want of any version.
func (a *Calls) resolve(ctx context.Context, c conditions, tenant, name string) (schedule.Match, error) {
	switch version := c.match.onlyVersion(); {
	case !c.match.given && !c.none.given:
		return schedule.Match{}, nil
	case version > 0 && !c.none.given:
		return schedule.Match{Version: version}, nil
	}
	s, err := a.Ledger.GetSchedule(ctx, tenant, name)
	switch {
	case errors.Is(err, core.ErrNotFound) && !c.match.given:
		return schedule.Match{Absent: true}, nil
	case err != nil:
		return schedule.Match{}, err
	case c.match.given && !c.match.holds(s.Version), c.none.given && c.none.excludes(s.Version):
		return schedule.Match{}, core.ErrStale
	}
	return schedule.Match{Version: s.Version}, nil
}

// onlyVersion is the version that the condition names where it names this one alone; else 0.
func (c condition) onlyVersion() int64 {
	if len(c.tags) != 1 {
		return 0
	}
	version, err := strconv.ParseInt(strings.Trim(c.tags[0], `"`), 10, 64)
	if err != nil || version < 1 || c.tags[0] != etag(version) {
		return 0
	}
	return version
}
