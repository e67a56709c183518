// Command workerpool is the worker in a Cloud Run worker pool, or any container on Google Cloud: it pulls from Pub/Sub,
// and extends what it holds for as long as jobs run. It has the tryout types and delivers webhooks; for handlers of your
// own copy it and put them in Handlers.
//
//	workerpool            work
//	workerpool health     ask the worker of this container for its health
package main

import (
	"time"

	"github.com/belfry-dev/belfry/functions/host/cloudrun"
	"github.com/belfry-dev/belfry/functions/worker"
)

const (
	maxVisibility = 10 * time.Minute // that Pub/Sub gives a message at a time
	maxGrace      = 4 * time.Second  // stopping takes twice this and half a second, and Cloud Run gives it ten
)

func main() {
	worker.Main(worker.Pull{Platform: cloudrun.Platform, Handlers: worker.Tryout(), MaxVisibility: maxVisibility, MaxGrace: maxGrace})
}
