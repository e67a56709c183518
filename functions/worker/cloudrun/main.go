// Command cloudrun is the worker on Cloud Run, behind Pub/Sub push subscriptions. It has the tryout types and delivers
// webhooks; for handlers of your own copy it and put them in Handlers.
package main

import (
	"context"
	"net/http"

	"github.com/belfry-dev/belfry/adapters/gcp"
	"github.com/belfry-dev/belfry/functions/host"
	"github.com/belfry-dev/belfry/functions/host/cloudrun"
	"github.com/belfry-dev/belfry/functions/worker"
)

// path is where the subscriptions of all priorities push to: a message says which it is.
const path = "/push"

func main() { cloudrun.Main(serve) }

func serve(ctx context.Context, h *host.Host) (*cloudrun.Service, error) {
	push, err := gcp.NewPush(gcp.PushOptions{Deadline: h.Settings.PushDeadline, OnAnswer: func(a gcp.PushAnswer) { log(h, a) }})
	if err != nil {
		return nil, err
	}
	o := worker.For(h, worker.Tryout())
	s := &o.Settings
	s.StopGrace = min(s.StopGrace, cloudrun.MaxGrace)
	if s.MaxTimeout == 0 || s.MaxTimeout > push.MaxTime() {
		s.MaxTimeout = push.MaxTime()
	}
	s.WorkerPriorities = nil // of its subscriptions it depends what is pushed to it
	o.Announcer = worker.NewAnnouncer(o, cloudrun.ServiceName())
	if o.Pass, err = h.OpenQueue(ctx, 0); err != nil { // where topics are set and it may publish, messages are passed on
		return nil, err
	}
	w, err := worker.New(o)
	if err != nil {
		return nil, err
	}
	endpoint := push.Handler(w)
	guarded, err := cloudrun.Guarded(h, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		defer h.Begin(r.Context())()
		endpoint.ServeHTTP(rw, r)
	}))
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+path, guarded)
	return &cloudrun.Service{Handler: mux, KeepAlive: h.Settings.KeepAlive, Work: w.Serve}, nil
}

func log(h *host.Host, a gcp.PushAnswer) {
	args := []any{"status", a.Status, "message_id", a.Message, "subscription", a.Subscription, "delivery", a.Delivery}
	switch {
	case a.Err != nil:
		h.Log.Warn("message not taken", append(args, "error", a.Err)...)
	case a.HandedBack:
		h.Log.Info("message handed back", args...)
	default:
		h.Log.Debug("message answered", args...)
	}
}
