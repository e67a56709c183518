package schedule

import (
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/recurrence"
)

// lastYear is the last year in which a rule can be due.
const lastYear = 9999

// Stuck says why a schedule that is not paused never comes due although its rule continues: its row was changed by hand. It
// returns "" if the schedule does come due, or has ended. rule is the result of Parse.
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

// unstick returns the step that lets a stuck schedule come due again, or nil if it is not stuck. Instants since Accounted
// follow the missed policy. If Accounted is unusable, the ledger continues at now.
func unstick(s *core.Schedule, now time.Time, o Options) (*Plan, error) {
	if farAhead(s.State.Accounted) {
		return replace(s, &s.Rule, now, o)
	}
	if rule, err := parseWith(s, o.Cache); err == nil && Stuck(s, rule) != "" {
		return Recompute(s, now, o), nil
	}
	return nil, nil
}
