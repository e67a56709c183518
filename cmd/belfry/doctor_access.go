package main

import (
	"context"
	"errors"
	"net"
	"net/url"

	"github.com/belfry-dev/belfry/client"
)

// checkAccess calls the API as anyone could: without a token.
func (a *app) checkAccess(ctx context.Context, f *findings) error {
	nobody := *a
	nobody.token = ""
	api, err := nobody.client()
	if err != nil {
		return err
	}
	_, err = api.Stats(ctx)
	switch {
	case errors.Is(err, client.ErrAccess):
		f.ok("access", "no call goes without a token")
	case err != nil:
		f.warn("access", "whether calls need a token cannot be told: "+err.Error(), adviceFor(err))
	case loopbackAddress(a.address):
		f.ok("access", "calls need no token, on a loopback address")
	default:
		f.broken("access", "anyone who reaches "+a.address+" can submit and see jobs", "belfry tokens create --role admin --name …: from the first token on each call needs one")
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
