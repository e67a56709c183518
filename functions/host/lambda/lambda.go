// Package lambda runs functions on AWS Lambda.
package lambda

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/belfry-dev/belfry/functions/host"
	"github.com/belfry-dev/belfry/functions/host/onaws"
)

// Options of a function. The zero value is ready.
type Options struct {
	IdleTime time.Duration // after which a connection is closed. Zero means one minute
}

// Main opens everything and serves invocations, one at a time, with the handler that serve makes, until Lambda ends the
// process. What cannot be opened ends it at once; Lambda then starts another.
func Main(o Options, serve func(context.Context, *host.Host) (any, error)) {
	ctx := context.Background()
	h, err := host.Open(ctx, onaws.Function(lambdacontext.FunctionName, cmp.Or(o.IdleTime, time.Minute)))
	var handler any
	if err == nil {
		handler, err = serve(ctx, h)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lambda.Start(handler)
}
