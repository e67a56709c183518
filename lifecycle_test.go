package belfry_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/states"
)

// docs/lifecycle.md shows the transition table of core, in the ordinary case and for each fact that changes it.
func TestLifecycleShowsTheTransitions(t *testing.T) {
	text, err := os.ReadFile("docs/lifecycle.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{ordinaryTransitions(), exceptionalTransitions()} {
		if !strings.Contains(string(text), table) {
			t.Errorf("docs/lifecycle.md should contain this table:\n%s", table)
		}
	}
}

var statuses = []core.Status{core.Scheduled, core.Queued, core.Running, core.Done, core.Cancelled, core.Failed}

// ordinaryTransitions is a row for each event and a column for each status, where none of the facts holds.
func ordinaryTransitions() string {
	var table strings.Builder
	table.WriteString("| event |")
	for _, from := range statuses {
		fmt.Fprintf(&table, " %s |", from)
	}
	table.WriteString("\n| --- |" + strings.Repeat(" --- |", len(statuses)) + "\n")
	for _, event := range states.Events() {
		fmt.Fprintf(&table, "| %s |", event)
		for _, from := range statuses {
			fmt.Fprintf(&table, " %s |", moveText(from, states.Transition(from, event, states.Facts{})))
		}
		table.WriteString("\n")
	}
	return table.String()
}

// exceptionalTransitions is a row for each move that one fact changes. A wrong token is left out: it makes every write stale.
func exceptionalTransitions() string {
	var table strings.Builder
	table.WriteString("| event | status | when | then |\n| --- | --- | --- | --- |\n")
	for _, event := range states.Events() {
		for _, fact := range []struct {
			text  string
			facts states.Facts
		}{
			{"cancel is wanted", states.Facts{CancelWanted: true}},
			{"the error is permanent", states.Facts{Permanent: true}},
			{"no attempt is left", states.Facts{AttemptsUsed: true}},
			{"1,000 snoozes are used up", states.Facts{SnoozesUsed: true}},
			{"it is the job's first loss and an attempt is left", states.Facts{LossCounts: true}},
			{"it is the fifth loss in a row, or the job has one attempt", states.Facts{LossesUsed: true}},
			{"`expires_at` has passed", states.Facts{Expired: true}},
			{"another live job has its dedupe key", states.Facts{KeyTaken: true}},
		} {
			for _, from := range statuses {
				move := states.Transition(from, event, fact.facts)
				if move != states.Transition(from, event, states.Facts{}) {
					fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", event, from, fact.text, moveText(from, move))
				}
			}
		}
	}
	return table.String()
}

// moveText is one cell: what changes, or why nothing does.
func moveText(from core.Status, move states.Move) string {
	switch move.Verdict {
	case states.Ignored:
		return "—"
	case states.Stale:
		return "stale"
	case states.Conflict:
		return "409"
	case states.Wanted:
		return "202, cancel wanted"
	}
	text := "stays " + move.Next.String()
	if move.Next != from {
		text = "→ " + move.Next.String()
	}
	for _, count := range []struct {
		name string
		n    int
	}{{"token", move.Token}, {"attempts", move.Attempts}, {"snoozes", move.Snoozes}} {
		if count.n != 0 {
			text += fmt.Sprintf(", %s %+d", count.name, count.n)
		}
	}
	if move.Reset {
		text += ", attempts and snoozes 0"
	}
	return text
}

// Durations in docs/lifecycle.md that a setting changes, "60 s (`BELFRY_LEASE`)", are that setting's default.
func TestLifecycleShowsDefaults(t *testing.T) {
	text, err := os.ReadFile("docs/lifecycle.md")
	if err != nil {
		t.Fatal(err)
	}
	settings, err := os.ReadFile("docs/settings.md") // held against the settings by functions/boot
	if err != nil {
		t.Fatal(err)
	}
	defaults := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(BELFRY_\\w+)` \\| `([^`]+)` \\|").FindAllStringSubmatch(string(settings), -1) {
		defaults[row[1]] = row[2]
	}
	shown := regexp.MustCompile("(\\d+) (ms|s|min|h) \\(`(BELFRY_\\w+)`").FindAllStringSubmatch(string(text), -1)
	if len(shown) < 10 {
		t.Errorf("found %d durations with their settings, want 10 or more", len(shown))
	}
	for _, found := range shown {
		want, err := time.ParseDuration(defaults[found[3]])
		if err != nil {
			t.Errorf("%s: %v", found[3], err)
			continue
		}
		got, err := time.ParseDuration(found[1] + strings.TrimSuffix(found[2], "in"))
		if err != nil || got != want {
			t.Errorf("%s: the page says %s, the default is %s", found[3], found[0], want)
		}
	}
}
