// Command ecs is the worker in a container on AWS that runs all the time, on ECS, Fargate or elsewhere: it pulls from SQS,
// and extends what it holds for as long as jobs run. It has the tryout types and delivers webhooks; for handlers of your
// own copy it and put them in Handlers.
//
//	ecs            work
//	ecs health     ask the worker of this container for its health
package main

import (
	"time"

	"github.com/belfry-dev/belfry/functions/host/onaws"
	"github.com/belfry-dev/belfry/functions/worker"
)

const (
	maxVisibility = 12 * time.Hour   // that SQS hides a message in all
	maxGrace      = 14 * time.Second // stopping takes twice this and half a second, and ECS gives it thirty
)

func main() {
	worker.Main(worker.Pull{Platform: onaws.Container, Handlers: worker.Tryout(), MaxVisibility: maxVisibility, MaxGrace: maxGrace})
}
