// Command ecs is the worker in a container on AWS that runs all the time, on ECS, Fargate or elsewhere: it pulls from SQS,
// and extends what it holds for as long as jobs run. It has the tryout types and delivers webhooks; for handlers of your
// own copy it and put them in Handlers.
//
//	ecs            work
//	ecs health     ask the worker of this container for its health
package main

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/boot/ecs"
	"github.com/belfry-dev/belfry/functions/worker"
)

const (
	maxVisibility = 12 * time.Hour   // that SQS hides a message in all
	maxGrace      = 14 * time.Second // stopping takes twice this and half a second, and ECS gives it thirty
)

func main() { worker.Main(open) }

func open(ctx context.Context) (*worker.Host, error) {
	h, err := ecs.Open(ctx)
	if err != nil {
		return nil, err
	}
	o := worker.Options{
		Store: boot.Waking(h.Store, h.Waker), Waker: h.Waker, Handlers: worker.Tryout(), Settings: h.Settings, ID: h.Name, Log: h.Log,
		Deliver: h.Webhooks.Handler(), Types: h.Types,
	}
	return &worker.Host{Options: o, OpenQueue: h.OpenQueue, MaxVisibility: maxVisibility, MaxGrace: maxGrace, Close: h.Close}, nil
}
