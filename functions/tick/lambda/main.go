// Command lambda is the tick on AWS Lambda, invoked by a schedule each minute. It ticks until shortly before its
// deadline, or in economy mode does what there is to do now. What the event says is not looked at: late, doubled and
// overlapping invocations do no harm.
package main

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/boot/lambda"
	"github.com/belfry-dev/belfry/functions/tick"
)

// margin is kept before the deadline, for the answer.
const margin = time.Second

func main() { lambda.Main(serve) }

func serve(ctx context.Context, f *lambda.Function) (any, error) {
	queue, err := f.OpenQueue(ctx)
	if err != nil {
		return nil, err
	}
	alerts, err := boot.OpenAlerts(ctx, f.Settings, f.Webhooks.Guard, f.Store)
	if err != nil {
		return nil, err
	}
	o := tick.Options{Store: f.Store, Queue: queue, Settings: f.Settings, Holder: f.Name, Log: f.Log, Types: f.Types, Stats: f.Store}
	if alerts != nil {
		o.Alerts = alerts.Publish
	}
	return func(ctx context.Context, _ json.RawMessage) error {
		defer f.Begin(ctx)()
		ctx, cancel := aws.BeforeDeadline(ctx, margin)
		defer cancel()
		t, err := tick.New(ctx, o)
		if err != nil {
			return err
		}
		if f.Settings.Economy {
			return t.Pass(ctx)
		}
		var fresh sync.WaitGroup
		fresh.Go(func() { f.Types.Run(ctx) })
		defer fresh.Wait()
		defer cancel()
		return t.Run(ctx)
	}, nil
}
