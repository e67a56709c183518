// Command cloudrun is the API on Cloud Run.
package main

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/access"
	"github.com/belfry-dev/belfry/functions/api/assemble"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/boot/cloudrun"
)

func main() { cloudrun.Main(serve) }

func serve(ctx context.Context, h *cloudrun.Host) (*cloudrun.Service, error) {
	if err := access.CheckOpen(ctx, false, h.Settings.Tokens, h.Settings.Insecure, h.Store); err != nil {
		return nil, err
	}
	submit, finish, err := submitStore(ctx, h)
	if err != nil {
		return nil, err
	}
	service, err := assemble.New(assemble.Parts{
		Settings: h.Settings, Store: boot.Waking(h.Store, h.Waker), Submit: boot.WakingSubmit(submit, h.Waker), Types: h.Types, Webhooks: h.Webhooks, Name: h.Name,
		Version: boot.Version(), Log: h.Log, Queues: h.Settings.QueueMode(), Closed: !h.Settings.Insecure,
	})
	if err != nil {
		return nil, err
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer h.Begin(r.Context())()
		r.RemoteAddr = caller(r)
		service.ServeHTTP(w, r)
	})
	work := func(ctx context.Context) error {
		boot.BoundMemory(ctx, int64(h.Settings.RequestMemory)<<20, service.HeldMemory)
		return nil
	}
	return &cloudrun.Service{Handler: handler, Work: work, Drain: service.Drain, Delay: h.Settings.StopDelay, KeepAlive: h.Settings.KeepAlive, Stop: func() { service.Close() }, Finish: func(ctx context.Context) error {
		err := service.Finish(ctx)
		if closed := finish(ctx); err == nil {
			err = closed
		}
		return err
	}}, nil
}

// caller is the address that the request came from: Cloud Run adds it to a header, behind what the caller has put
// there, and connects from an address of its own.
func caller(r *http.Request) string {
	hops := r.Header.Values("X-Forwarded-For")
	if len(hops) == 0 {
		return r.RemoteAddr
	}
	last := hops[len(hops)-1]
	address, err := netip.ParseAddr(strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:]))
	if err != nil {
		return r.RemoteAddr
	}
	return netip.AddrPortFrom(address, 0).String()
}

// submitStore is where jobs are written: where the queues are set, those that are due are published there too. What it opened is closed by finish.
func submitStore(ctx context.Context, h *cloudrun.Host) (store core.SubmitStore, finish func(context.Context) error, err error) {
	nothing := func(context.Context) error { return nil }
	queue, err := h.OpenQueue(ctx, 0)
	if err != nil || queue == nil {
		return h.Store, nothing, err
	}
	d, err := assemble.NewDispatcher(ctx, h.Store, queue, h.Settings, h.Types, true)
	if err != nil {
		return nil, nil, err
	}
	return d, d.Close, nil
}
