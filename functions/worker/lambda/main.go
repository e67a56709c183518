// Command lambda is the worker on AWS Lambda, behind the event source mapping of an SQS queue. It has the tryout types
// and delivers webhooks; for handlers of your own copy it and put them in Handlers.
package main

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/core/work"
	"github.com/belfry-dev/belfry/functions/host"
	"github.com/belfry-dev/belfry/functions/host/lambda"
	"github.com/belfry-dev/belfry/functions/worker"
)

func main() { lambda.Main(lambda.Options{}, serve) }

func serve(ctx context.Context, h *host.Host) (any, error) {
	o := worker.For(h, worker.Tryout())
	o.Settings.WorkerPriorities = nil // of its event source mappings it depends what it is called with
	o.Announcer = worker.NewAnnouncer(o, lambdacontext.FunctionName)
	pass, err := h.OpenQueue(ctx, 0) // of the function's own rights it depends whether messages are passed on, or their rows
	if err != nil {
		return nil, err
	}
	o.Pass = pass
	if _, err := worker.New(o); err != nil {
		return nil, err
	}
	batches := aws.BatchWorker{Grace: h.Settings.StopGrace}
	batches.Work = func(ctx context.Context, messages [][]byte, push work.PushOptions, grace, maxTime time.Duration) ([]work.Verdict, error) {
		o := o
		o.Settings.StopGrace = grace
		if o.Settings.MaxTimeout == 0 || maxTime > 0 && maxTime < o.Settings.MaxTimeout {
			o.Settings.MaxTimeout = maxTime
		}
		w, err := worker.New(o)
		if err != nil {
			return nil, err
		}
		return w.Batch(ctx, messages, push)
	}
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		defer h.Begin(ctx)()
		answer, err := batches.Serve(ctx, event)
		if err != nil {
			h.Log.Error("batch", "messages", len(event.Records), "kept", len(answer.BatchItemFailures), "error", err)
		}
		return answer, nil
	}, nil
}
