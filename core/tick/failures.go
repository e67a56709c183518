package tick

import (
	"context"
	"fmt"
	"time"
)

// Limits for a store's WatchFailures. The subject of an alert about one group is the type, a slash and the error group.
// Groups without an alert of their own share one whose subject ends in "/other". If there are too many even of those, they
// share the subject "other".
const (
	FailureNotes   = 1_000     // failures read at once
	FailuresOfType = 20        // maximum open alerts of one type, without shared ones
	FailuresOfAll  = 500       // maximum of all types
	FailureQuiet   = time.Hour // an alert is cleared when nothing of its group has failed for this long

	FailureDetail  = "failed for good: " // the newest error follows
	FailuresDetail = "failed for good in more ways than are told apart: "
	FailureText    = 200 // maximum characters of that error

	AlertRetention = 90 * 24 * time.Hour // of cleared alerts; open ones stay
)

// failuresPeriod is the time between checks whether alerts about failures can be cleared.
const failuresPeriod = 10 * time.Second

// watchFailures raises alerts about jobs that failed for good, and clears alerts whose failures have stopped.
func (t *Ticker) watchFailures(ctx context.Context, p *pass) error {
	raised, err := t.store.WatchFailures(ctx)
	if err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	p.report.More = p.report.More || raised > 0 && t.opts.OnAlerts != nil // the alerts must be published
	return nil
}
