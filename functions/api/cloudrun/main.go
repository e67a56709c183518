// Command cloudrun is the API on Cloud Run.
package main

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"github.com/belfry-dev/belfry/functions/api"
	"github.com/belfry-dev/belfry/functions/api/assemble"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host"
	"github.com/belfry-dev/belfry/functions/host/cloudrun"
)

func main() { cloudrun.Main(serve) }

func serve(ctx context.Context, h *host.Host) (*cloudrun.Service, error) {
	service, err := assemble.Open(ctx, h, api.Limits{})
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
	return &cloudrun.Service{
		Handler: handler, Work: work, Drain: service.Drain, Delay: h.Settings.StopDelay, KeepAlive: h.Settings.KeepAlive,
		Stop: func() { service.Close() }, Finish: service.Finish,
	}, nil
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
