package doctor

import (
	"context"
	"errors"
	"net"
	"net/url"

	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/cmd/belfry/internal/console"
)

// checkAccess calls the API as anyone could: without a token.
func checkAccess(ctx context.Context, a *console.App, f *findings) error {
	nobody := *a
	nobody.Token = ""
	api, err := nobody.Client()
	if err != nil {
		return err
	}
	_, err = api.Stats(ctx)
	switch {
	case errors.Is(err, client.ErrAccess):
		f.ok("access", "no call goes without a token")
	case err != nil:
		f.warn("access", "whether calls need a token cannot be told: "+err.Error(), adviceFor(err))
	case loopbackAddress(a.Address):
		f.ok("access", "calls need no token, on a loopback address")
	default:
		f.broken("access", "anyone who reaches "+a.Address+" can submit and see jobs", "belfry tokens create --role admin --name …: from the first token on each call needs one")
	}
	return nil
}

// loopbackAddress reports whether the address of an API is on this machine.
func loopbackAddress(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}
