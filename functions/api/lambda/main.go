// Command lambda is the API on AWS Lambda, behind a Function URL or an HTTP API with payload format 2.0.
package main

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/assemble"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/boot/lambda"
)

const (
	maxPage  = 3 << 20          // bytes of a page: what goes through Lambda is smaller than the API's own bound
	longWait = 25 * time.Second // of ?wait=: an HTTP API answers after 30 s itself
)

func main() { lambda.Main(lambda.Options{}, serve) }

func serve(ctx context.Context, f *lambda.Function) (any, error) {
	if err := access.CheckOpen(ctx, false, f.Settings.Tokens, f.Settings.Insecure, f.Store); err != nil {
		return nil, err
	}
	submit, err := submitStore(ctx, f)
	if err != nil {
		return nil, err
	}
	service, err := assemble.New(assemble.Parts{
		Settings: f.Settings, Store: boot.Waking(f.Store, f.Waker), Submit: boot.WakingSubmit(submit, f.Waker), Types: f.Types, Webhooks: f.Webhooks, Name: f.Name,
		Version: boot.Version(), Log: f.Log, Queues: f.Settings.QueueMode(), Closed: !f.Settings.Insecure, Limits: api.Limits{PageBytes: maxPage, Wait: longWait},
	})
	if err != nil {
		return nil, err
	}
	events := aws.HTTP{Handler: service, Begin: f.Begin, EscapePath: service.EscapePath}
	if f.Settings.Stream {
		return events.Streamed, nil
	}
	return events.Buffered, nil
}

// submitStore is where jobs are written: where the queues are set, those that are due are published there too.
func submitStore(ctx context.Context, f *lambda.Function) (core.SubmitStore, error) {
	queue, err := f.OpenQueue(ctx)
	if err != nil || queue == nil {
		return f.Store, err
	}
	return assemble.NewDispatcher(ctx, f.Store, queue, f.Settings, f.Types, true)
}
