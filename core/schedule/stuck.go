package schedule

import (
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/recurrence"
)

// lastYear is the last one whose instants a rule can have.
const lastYear = 9999

// Stuck says why a schedule that is not paused never comes due though its rule goes on: somebody changed its row by hand. ""
// means that it does, or that it has ended. rule is what Parse makes of it.
func Stuck(s *core.Schedule, rule *recurrence.Rule) string {
	st := &s.State
	switch {
	case s.Rule.Paused || !st.PausedAt.IsZero():
		return ""
	case farAhead(st.Accounted):
		return "its accounted_to lies beyond the year 9999, so all its runs count as made"
	case farAhead(st.NextDue):
		return "its next_due lies beyond the year 9999, so it never comes due"
	case st.NextDue.IsZero() && !st.Accounted.IsZero() && !rule.NextToAccount(st.Accounted).IsZero():
		return "it has no next_due though its rule goes on, so it never comes due"
	}
	return ""
}

func farAhead(t time.Time) bool { return t.UTC().Year() > lastYear }

// release is the step that lets a schedule that is Stuck come due again. Nil means that it is not stuck. What came due since
// Accounted follows the missed policy; where nobody can tell what did, the ledger goes on at now.
func release(s *core.Schedule, now time.Time, o Options) (*Plan, error) {
	if farAhead(s.State.Accounted) {
		return replace(s, &s.Rule, now, o)
	}
	if rule, err := parseWith(s, o.Cache); err == nil && Stuck(s, rule) != "" {
		return Recompute(s, now, o), nil
	}
	return nil, nil
}
