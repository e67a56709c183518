// Command lambda is the API on AWS Lambda, behind a Function URL or an HTTP API with payload format 2.0.
package main

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/adapters/aws"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/assemble"
	"github.com/belfry-dev/belfry/functions/host"
	"github.com/belfry-dev/belfry/functions/host/lambda"
)

const (
	maxPage  = 3 << 20          // bytes of a page: what goes through Lambda is smaller than the API's own bound
	longWait = 25 * time.Second // of ?wait=: an HTTP API answers after 30 s itself
)

func main() { lambda.Main(lambda.Options{}, serve) }

func serve(ctx context.Context, h *host.Host) (any, error) {
	service, err := assemble.Open(ctx, h, api.Limits{PageBytes: maxPage, Wait: longWait})
	if err != nil {
		return nil, err
	}
	events := aws.HTTP{Handler: service, Begin: h.Begin, EscapePath: service.EscapePath}
	if h.Settings.Stream {
		return events.Streamed, nil
	}
	return events.Buffered, nil
}
