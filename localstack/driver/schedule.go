package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// oldestEvent is how long a schedule's event waits for an environment before it is dropped, without a retry.
const oldestEvent = time.Minute

// invokeEach invokes a function at once and then in each period, whether or not the invocations before have ended.
func invokeEach(ctx context.Context, period time.Duration, f *function, region string, log *slog.Logger) {
	var running sync.WaitGroup
	defer running.Wait()
	each := time.NewTicker(period)
	defer each.Stop()
	for ctx.Err() == nil {
		running.Go(func() {
			event := events.CloudWatchEvent{
				Version: "0", ID: rand.Text(), DetailType: "Scheduled Event", Source: "aws.scheduler", AccountID: "000000000000", Time: time.Now().UTC(),
				Region: region, Resources: []string{"arn:aws:scheduler:" + region + ":000000000000:schedule/default/belfry-" + f.name}, Detail: []byte("{}"),
			}
			waiting, cancel := context.WithTimeout(ctx, oldestEvent)
			defer cancel()
			if _, err := f.invoke(waiting, event); err != nil && ctx.Err() == nil {
				log.Error("schedule", "function", f.name, "error", err)
			}
		})
		select {
		case <-each.C:
		case <-ctx.Done():
		}
	}
}
