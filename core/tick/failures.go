package tick

import (
	"context"
	"fmt"
	"time"
)

// What stores go by in WatchFailures. The subject of an alert about one group is the type, a slash and the error group.
// Groups that get no alert of their own share one whose subject ends in "/other", or, where even those are too many, is "other".
const (
	FailureNotes   = 1_000     // notes of failures taken at once
	FailuresOfType = 20        // most open alerts of one type, those that are shared left out
	FailuresOfAll  = 500       // most of all types
	FailureQuiet   = time.Hour // an alert is over when nothing of its group has failed for so long

	FailureDetail  = "failed for good: " // the newest error follows
	FailuresDetail = "failed for good in more ways than are told apart: "
	FailureText    = 200 // characters of that error

	AlertRetention = 90 * 24 * time.Hour // of alerts that are over; open ones stay
)

// failuresPeriod is between looks at whether alerts about failures are over.
const failuresPeriod = 10 * time.Second

// watchFailures raises alerts about jobs that have failed for good, and clears those that are over.
func (t *Ticker) watchFailures(ctx context.Context, p *pass) error {
	raised, err := t.store.WatchFailures(ctx)
	if err != nil {
		return fmt.Errorf("tick: %w", err)
	}
	p.report.More = p.report.More || raised > 0 && t.opts.OnAlerts != nil // they are to be published
	return nil
}
