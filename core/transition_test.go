package core

import (
	"fmt"
	"strings"
	"testing"
)

// shown writes a move as the table below does.
func shown(from Status, m Move) string {
	switch m.Verdict {
	case Ignored:
		return "-"
	case Stale:
		return "stale"
	case Conflict:
		return "409"
	case Wanted:
		return "202"
	}
	text := m.Next.String()
	if m.Next == from {
		text = "stays"
	}
	if m.Reset {
		text += " reset"
	}
	for _, part := range []struct {
		name string
		n    int
	}{{"token", m.Token}, {"attempts", m.Attempts}, {"snoozes", m.Snoozes}} {
		if part.n != 0 {
			text += fmt.Sprintf(" %s%+d", part.name, part.n)
		}
	}
	return text
}

// TestTransitionTable is the table of states and events, row by row: scheduled, queued, running, done, cancelled, failed.
func TestTransitionTable(t *testing.T) {
	columns := []Status{Scheduled, Queued, Running, Done, Cancelled, Failed}
	rows := []struct {
		event Event
		facts Facts
		want  string
	}{
		{EventDispatch, Facts{}, "queued | - | - | - | - | -"},
		{EventClaim, Facts{}, "running token+1 attempts+1 | - | - | - | - | -"},
		{EventClaim, Facts{Expired: true}, "cancelled | - | - | - | - | -"},
		{EventClaim, Facts{AttemptsUsed: true}, "failed | - | - | - | - | -"},
		{EventRepublish, Facts{}, "- | stays | - | - | - | -"},
		{EventStart, Facts{}, "stale | running token+1 attempts+1 | stale | stale | stale | stale"},
		{EventStart, Facts{Expired: true}, "stale | cancelled | stale | stale | stale | stale"},
		{EventStart, Facts{AttemptsUsed: true}, "stale | failed | stale | stale | stale | stale"},
		{EventStart, Facts{WrongToken: true}, "stale | stale | stale | stale | stale | stale"},
		{EventUnhandled, Facts{}, "stale | scheduled token+1 | stale | stale | stale | stale"},
		{EventHeartbeat, Facts{}, "stale | stale | stays | stale | stale | stale"},
		{EventHeartbeat, Facts{WrongToken: true}, "stale | stale | stale | stale | stale | stale"},
		{EventDone, Facts{}, "stale | stale | done | stale | stale | stale"},
		{EventDone, Facts{CancelWanted: true}, "stale | stale | done | stale | stale | stale"},
		{EventDone, Facts{WrongToken: true}, "stale | stale | stale | stale | stale | stale"},
		{EventError, Facts{}, "stale | stale | scheduled token+1 | stale | stale | stale"},
		{EventError, Facts{Permanent: true}, "stale | stale | failed | stale | stale | stale"},
		{EventError, Facts{AttemptsUsed: true}, "stale | stale | failed | stale | stale | stale"},
		{EventError, Facts{CancelWanted: true, Permanent: true}, "stale | stale | cancelled | stale | stale | stale"},
		{EventSnooze, Facts{}, "stale | stale | scheduled token+1 attempts-1 snoozes+1 | stale | stale | stale"},
		{EventSnooze, Facts{CancelWanted: true}, "stale | stale | cancelled | stale | stale | stale"},
		{EventSnooze, Facts{SnoozesUsed: true}, "stale | stale | scheduled token+1 | stale | stale | stale"},
		{EventSnooze, Facts{SnoozesUsed: true, AttemptsUsed: true}, "stale | stale | failed | stale | stale | stale"},
		{EventAccepted, Facts{}, "stale | stale | stays | stale | stale | stale"},
		{EventAccepted, Facts{CancelWanted: true}, "stale | stale | stays | stale | stale | stale"},
		{EventAccepted, Facts{WrongToken: true}, "stale | stale | stale | stale | stale | stale"},
		{EventHandBack, Facts{}, "stale | stays | scheduled token+1 attempts-1 | stale | stale | stale"},
		{EventHandBack, Facts{CancelWanted: true}, "stale | stays | cancelled | stale | stale | stale"},
		{EventLost, Facts{}, "- | - | scheduled token+1 attempts-1 | - | - | -"},
		{EventLost, Facts{LossCounts: true}, "- | - | scheduled token+1 | - | - | -"},
		{EventLost, Facts{LossesUsed: true}, "- | - | failed | - | - | -"},
		{EventLost, Facts{LossesUsed: true, CancelWanted: true}, "- | - | cancelled | - | - | -"},
		{EventCancel, Facts{}, "cancelled | cancelled token+1 | 202 | 409 | 409 | 409"},
		{EventReschedule, Facts{}, "stays | scheduled token+1 | 409 | 409 | 409 | 409"},
		{EventRetry, Facts{}, "409 | 409 | 409 | 409 | 409 | scheduled reset token+1"},
		{EventRetry, Facts{KeyTaken: true}, "409 | 409 | 409 | 409 | 409 | 409"},
		{EventExpire, Facts{}, "cancelled | cancelled | - | - | - | -"},
	}
	covered := map[Event]bool{}
	for _, row := range rows {
		covered[row.event] = true
		got := make([]string, len(columns))
		for i, from := range columns {
			got[i] = shown(from, Transition(from, row.event, row.facts))
		}
		if text := strings.Join(got, " | "); text != row.want {
			t.Errorf("%s %+v:\n got %s\nwant %s", row.event, row.facts, text, row.want)
		}
	}
	for _, e := range Events() {
		if !covered[e] {
			t.Errorf("no row for %s", e)
		}
	}
}

// TestTransitionProperties holds every cell, under all facts, against what must never happen.
func TestTransitionProperties(t *testing.T) {
	for _, event := range Events() {
		for from := Scheduled; from <= Cancelled; from++ {
			for bits := range 1 << 9 {
				bit := func(i int) bool { return bits>>i&1 == 1 }
				f := Facts{bit(0), bit(1), bit(2), bit(3), bit(4), bit(5), bit(6), bit(7), bit(8)}
				m := Transition(from, event, f)
				fault := ""
				switch {
				case m.Verdict != Applied && (m.Next != from || m.Token != 0 || m.Attempts != 0 || m.Snoozes != 0 || m.Reset):
					fault = "a verdict that changes nothing changed something"
				case from.Ended() && m.Next != from && event != EventRetry:
					fault = "an ended job went on"
				case m.Token < 0 || m.Token > 1:
					fault = "the token fell or jumped"
				case m.Next == Running && from != Running && (m.Attempts != 1 || m.Token != 1 || f.AttemptsUsed || f.Expired):
					fault = "a start that is not charged, not fenced or not allowed"
				case m.Next == Scheduled && from != Scheduled && m.Token != 1:
					fault = "an earlier holder is not fenced off"
				case f.CancelWanted && from == Running && m.Verdict == Applied && event != EventDone && event != EventHeartbeat && event != EventAccepted && m.Next != Cancelled:
					fault = "a wanted cancel was passed over"
				}
				if fault != "" {
					t.Errorf("%s of a %s job, %+v: %s: %+v", event, from, f, fault, m)
				}
			}
		}
	}
}
