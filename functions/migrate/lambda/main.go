// Command lambda readies a deployment on AWS: invoked before the other functions are deployed, it migrates the schema, gives
// their database roles what they need, and makes the secrets that are missing. Invoked with {"rotate": ["admin_token"]}
// or "webhook_secrets" it makes these anew.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/belfry-dev/belfry/functions/host/onaws"
	"github.com/belfry-dev/belfry/functions/migrate"
)

func main() { lambda.Start(serve) }

// serve opens everything at each invocation: there are few, and passwords change between them.
func serve(ctx context.Context, r migrate.Request) (migrate.Report, error) {
	d, err := onaws.OpenDeployment(ctx)
	if err != nil {
		return migrate.Report{}, err
	}
	o := migrate.Options{Database: d}
	if d.AdminToken != nil {
		o.AdminToken = d.AdminToken
	}
	if d.Webhooks != nil {
		o.WebhookSecrets = d.Webhooks
	}
	return migrate.Run(ctx, o, r)
}
