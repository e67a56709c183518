// Command cloudrun is the tick on Cloud Run, called by Cloud Scheduler. A call ticks for a while, or until nothing is due
// (BELFRY_TICK_IDLE), or in economy mode does what there is to do now. Of the request only one thing is looked at: whether
// API or worker wakes it, through a topic. Late, duplicate and overlapping calls are harmless.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/adapters/gcp"
	"github.com/belfry-dev/belfry/functions/host"
	"github.com/belfry-dev/belfry/functions/host/cloudrun"
	"github.com/belfry-dev/belfry/functions/tick"
)

const (
	path    = "/tick"
	maxBody = 64 << 10
)

func main() { cloudrun.Main(serve) }

func serve(ctx context.Context, h *host.Host) (*cloudrun.Service, error) {
	o, alerts, err := tick.For(ctx, h)
	if err != nil {
		return nil, err
	}
	guarded, err := cloudrun.Guarded(h, &ticks{Host: h, options: o, ending: ctx})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+path, guarded)
	return &cloudrun.Service{Handler: mux, KeepAlive: h.Settings.KeepAlive, Finish: alerts.Close}, nil
}

// ticks serves calls. Each is a scheduler of its own among all: they may overlap.
type ticks struct {
	*host.Host
	options tick.Options
	calls   atomic.Int64
	memory  tick.Memory
	ending  context.Context // of the container: a call gives its leases up then
}

func (t *ticks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Read to its end, so that the context ends when the caller goes.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	woken := gcp.IsWake(body)
	if !woken && t.memory.Skips(r.Context(), t.options, time.Now()) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	defer t.Begin(r.Context())()
	if err := t.tick(r.Context(), woken); err != nil {
		t.Log.Error("tick", "error", err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (t *ticks) tick(ctx context.Context, woken bool) error {
	ctx, cancel := context.WithTimeout(ctx, t.Settings.TickTime)
	defer cancel()
	defer context.AfterFunc(t.ending, cancel)()
	o := t.options
	o.Holder = fmt.Sprintf("%s-%d", t.Name, t.calls.Add(1))
	return tick.Invoke(ctx, o, &t.memory, woken)
}
