// Command lambda is the tick on AWS Lambda, invoked by a schedule each minute. It ticks until shortly before its
// deadline, or until nothing is due (BELFRY_TICK_IDLE), or in economy mode does what there is to do now. Of the event
// only one thing is looked at: whether API or worker wakes it. Late, duplicate and overlapping invocations are harmless.
package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/functions/host"
	"github.com/belfry-dev/belfry/functions/host/lambda"
	"github.com/belfry-dev/belfry/functions/tick"
)

const (
	margin   = time.Second     // kept before the deadline, for the answer
	idleTime = 5 * time.Minute // longer than from one invocation to the next, which then finds its connection open
)

func main() { lambda.Main(lambda.Options{IdleTime: idleTime}, serve) }

func serve(ctx context.Context, h *host.Host) (any, error) {
	o, _, err := tick.For(ctx, h)
	if err != nil {
		return nil, err
	}
	var memory tick.Memory
	return func(ctx context.Context, event json.RawMessage) error {
		woken := aws.IsWake(event)
		if !woken && memory.Skips(ctx, o, time.Now()) {
			return nil
		}
		defer h.Begin(ctx)()
		ctx, cancel := aws.BeforeDeadline(ctx, margin)
		defer cancel()
		return tick.Invoke(ctx, o, &memory, woken)
	}, nil
}
