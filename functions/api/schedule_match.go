package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// etag is the ETag of a version.
func etag(version int64) string { return strconv.Quote(strconv.FormatInt(version, 10)) }

// preconditions reads If-Match and If-None-Match. star says that any version will do, but none will not.
func preconditions(h http.Header) (match core.Match, star bool, err error) {
	if values := h.Values("If-None-Match"); len(values) == 1 && values[0] == "*" {
		match.Absent = true
	} else if len(values) > 0 {
		return match, false, fieldProblem(http.StatusUnprocessableEntity, "If-None-Match", "must be *, which asks that there is no such schedule yet")
	}
	values := h.Values("If-Match")
	if len(values) == 0 {
		return match, false, nil
	}
	text := strings.TrimSpace(strings.Join(values, ","))
	if text == "*" {
		return match, true, nil
	}
	version, err := strconv.ParseInt(strings.Trim(text, `"`), 10, 64)
	if err != nil || version < 1 || text != etag(version) {
		return match, false, fieldProblem(http.StatusUnprocessableEntity, "If-Match", `must be the ETag of a schedule, such as "3", or *`)
	}
	match.Version = version
	return match, false, nil
}

// present makes the version that stands the one that is asked for, where any will do.
func (a *API) present(ctx context.Context, tenant, name string, match *core.Match) error {
	s, err := a.Ledger.GetSchedule(ctx, tenant, name)
	if errors.Is(err, core.ErrNotFound) {
		return scheduleFault(core.ErrStale)
	}
	match.Version = s.Version
	return err
}
