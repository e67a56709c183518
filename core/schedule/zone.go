package schedule

import (
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/recurrence"
)

// zoneMark returns an instant and the offset of the rule's zone from UTC then. It is "" if the rule does not follow the
// clock.
func zoneMark(rule *recurrence.Rule, at time.Time) string {
	offset, ok := rule.Offset(at)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d%+d", at.UnixMicro(), offset)
}

// repeated finds instants after Accounted whose local time the clock had already shown, because the rules of the zone
// changed since: each local time is due once. It finds nothing if an older program, which writes no marks, advanced the
// schedule.
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
	shown := accounted.Add(time.Duration(before) * time.Second) // local time, treated as UTC
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

// passRepeated accounts for the repeated instants, and returns the instant from which the rule continues.
func (p *Plan) passRepeated(s *core.Schedule, rule *recurrence.Rule) (accounted time.Time) {
	row, found := repeated(s, rule)
	if !found {
		return s.State.Accounted
	}
	p.Occurrences = append(p.Occurrences, row)
	return row.To
}
