package states

import (
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// TestTransitionProperties checks that no cell of the table, under any facts, makes a forbidden move.
func TestTransitionProperties(t *testing.T) {
	for _, event := range Events() {
		for from := core.Scheduled; from <= core.Cancelled; from++ {
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
				case m.Next == core.Running && from != core.Running && (m.Attempts != 1 || m.Token != 1 || f.AttemptsUsed || f.Expired):
					fault = "a start that is not charged, not fenced or not allowed"
				case m.Next == core.Scheduled && from != core.Scheduled && m.Token != 1:
					fault = "an earlier holder is not fenced off"
				case f.CancelWanted && from == core.Running && m.Verdict == Applied && event != EventDone && event != EventHeartbeat && event != EventAccepted && m.Next != core.Cancelled:
					fault = "a wanted cancel was passed over"
				}
				if fault != "" {
					t.Errorf("%s of a %s job, %+v: %s: %+v", event, from, f, fault, m)
				}
			}
		}
	}
}
