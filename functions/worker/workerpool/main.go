// Command workerpool is the worker in a Cloud Run worker pool, or any container on Google Cloud: it pulls from Pub/Sub,
// and extends what it holds for as long as jobs run. It has the tryout types and delivers webhooks; for handlers of your
// own copy it and put them in Handlers.
//
//	workerpool            work
//	workerpool health     ask the worker of this container for its health
package main

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/boot/cloudrun"
	"github.com/belfry-dev/belfry/functions/worker"
)

const (
	maxVisibility = 10 * time.Minute // that Pub/Sub gives a message at a time
	maxGrace      = 4 * time.Second  // stopping takes twice this and half a second, and Cloud Run gives it ten
)

func main() { worker.Main(open) }

func open(ctx context.Context) (*worker.Host, error) {
	h, err := cloudrun.Open(ctx)
	if err != nil {
		return nil, err
	}
	o := worker.Options{
		Store: boot.Waking(h.Store, h.Waker), Waker: h.Waker, Handlers: worker.Tryout(), Settings: h.Settings, ID: h.Name, Log: h.Log,
		Deliver: h.Webhooks.Handler(), Types: h.Types,
	}
	return &worker.Host{Options: o, OpenQueue: h.OpenQueue, MaxVisibility: maxVisibility, MaxGrace: maxGrace, Close: h.Close}, nil
}
