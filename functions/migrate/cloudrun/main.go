// Command cloudrun readies a deployment on Google Cloud, as a Cloud Run job that runs before the services are deployed: it
// migrates the schema, gives the programs' database users what they need, and makes the secrets that are missing. With
// the arguments "rotate admin_token" or "rotate webhook_secrets" it makes these anew.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/belfry-dev/belfry/functions/host/cloudrun"
	"github.com/belfry-dev/belfry/functions/migrate"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "belfry:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	var request migrate.Request
	if len(args) > 0 {
		if args[0] != "rotate" || len(args) == 1 {
			return fmt.Errorf("unexpected arguments %q: want none, or rotate and what: %s, %s", args, migrate.RotateAdminToken, migrate.RotateWebhookSecrets)
		}
		request.Rotate = args[1:]
	}
	d, err := cloudrun.OpenDeployment(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	o := migrate.Options{Database: d}
	if d.AdminToken != nil {
		o.AdminToken = d.AdminToken
	}
	if d.Webhooks != nil {
		o.WebhookSecrets = d.Webhooks
	}
	report, err := migrate.Run(ctx, o, request)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(report)
}
