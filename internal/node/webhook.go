package node

import (
	"context"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/boot"
)

// openWebhooks makes the parts that have to do with types and targets; the API needs them, and the worker.
func (n *running) openWebhooks(ctx context.Context) (err error) {
	n.types = core.NewTypes(n.Store, core.TypesOptions{OnError: func(err error) { n.Log.Error("types not read", "error", err) }})
	o := n.Webhooks
	o.Log = n.Log
	n.webhooks, err = boot.OpenWebhooks(ctx, n.Settings, n.Store, o)
	return err
}

// webhookAPI gives the API what it needs for types, targets and what targets report.
func (n *running) webhookAPI(o *api.Options) {
	n.reports = core.NewReporter(n.Store, core.ReporterOptions{ID: n.name, Timeout: n.Settings.Timeout})
	o.Types, o.Attempts, o.Leases = n.types, n.reports, n.webhooks.Leases
	if n.webhooks.Guard != nil {
		o.Targets = n.webhooks.Guard
	}
}
