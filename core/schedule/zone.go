package schedule

import (
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/recurrence"
)

// zoneMark is what the clock of a rule's zone was ahead of UTC at an instant; "" where the rule does not go by the hours
// of a clock.
func zoneMark(rule *recurrence.Rule, at time.Time) string {
	offset, ok := rule.Offset(at)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d%+d", at.UnixMicro(), offset)
}

// repeated finds the instants behind Accounted at which the clock shows again what it had shown by then, because the rules
// of its zone have changed since: a local day and time is due once. Nothing is found where a program that knows no marks has been at it.
func repeated(s *core.Schedule, rule *recurrence.Rule) (row core.Ledgered, found bool) {
	var marked int64
	var before int
	accounted := s.State.Accounted
	if n, err := fmt.Sscanf(s.State.ZoneMark, "%d%d", &marked, &before); n != 2 || err != nil || marked != accounted.UnixMicro() {
		return row, false
	}
	offset, ok := rule.Offset(accounted)
	if !ok || offset >= before {
		return row, false
	}
	shown := accounted.Add(time.Duration(before) * time.Second) // as though in UTC
	row.Job, row.Outcome, row.Reason = -1, core.OccurrenceSkipped, core.SkippedDSTOverlap
	for t := accounted; ; {
		next := rule.NextToAccount(t)
		if next.IsZero() {
			break
		}
		offset, _ := rule.Offset(next)
		if next.Add(time.Duration(offset) * time.Second).After(shown) {
			break
		}
		if t, found = next, true; row.From.IsZero() {
			row.From = storeTime(next)
		}
		row.To = storeTime(next)
		row.Count++
	}
	return row, found
}

// passRepeated accounts for the instants that are repeated, and returns from where the rule goes on.
func (p *Plan) passRepeated(s *core.Schedule, rule *recurrence.Rule) (accounted time.Time) {
	row, found := repeated(s, rule)
	if !found {
		return s.State.Accounted
	}
	p.Occurrences = append(p.Occurrences, row)
	return row.To
}
