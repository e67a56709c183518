package cloudrun

import (
	"net/http"

	"github.com/belfry-dev/belfry/adapters/gcp"
	"github.com/belfry-dev/belfry/functions/host"
)

// Guarded lets through to next the requests of the service account that the settings name, and logs the others.
func Guarded(h *host.Host, next http.Handler) (http.Handler, error) {
	s := h.Settings
	if err := s.CheckCallers(); err != nil {
		return nil, err
	}
	if s.CallerIAM {
		h.Log.Warn("tokens without signature are let in: nobody but the service account may have run.invoker here")
	}
	callers, err := gcp.NewCallers(gcp.CallerOptions{
		Audience: s.CallerAudience, Account: s.CallerAccount, Keys: gcp.NewRemoteKeys(s.CallerKeysURL, nil), Unsigned: s.CallerIAM,
	})
	if err != nil {
		return nil, err
	}
	return callers.Guard(next, func(err error) { h.Log.Warn("caller turned away", "error", err) }), nil
}
