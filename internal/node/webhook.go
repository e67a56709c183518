package node

import (
	"context"

	"github.com/belfry-dev/belfry/core/typecache"
	"github.com/belfry-dev/belfry/functions/boot"
)

// openWebhooks makes the parts that have to do with types and targets; the API needs them, and the worker.
func (n *running) openWebhooks(ctx context.Context) (err error) {
	n.types = typecache.New(n.Store, typecache.Options{OnError: func(err error) { n.Log.Error("types not read", "error", err) }})
	o := n.Webhooks
	o.Log = n.Log
	n.webhooks, err = boot.OpenWebhooks(ctx, n.Settings, n.Store, o)
	return err
}

// closeAlerts lets go of the topic that alerts were sent to.
func (n *running) closeAlerts(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.Settings.StopGrace)
	defer cancel()
	if err := n.alerts.Close(ctx); err != nil {
		n.Log.Warn("alerts not closed", "error", err)
	}
}
