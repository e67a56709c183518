package webhook

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// dialError is an error of connecting.
type dialError struct{ error }

func (e *dialError) Unwrap() error { return e.error }

// dialContext connects to host:port for the transport. It resolves the host once, refuses it if any of its addresses is
// refused, and connects to one of the checked addresses, so that no second look-up can return another. The socket's own hook
// checks the address again just before connect. The error is a *dialError.
func (g *Guard) dialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := g.dial(ctx, network, address)
	if err != nil {
		return nil, &dialError{err}
	}
	return &answeredConn{conn}, nil
}

func (g *Guard) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	addrs, err := g.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	trusted := g.trusts(host)
	var first error
	for i, addr := range addrs {
		conn, err := g.connectOne(ctx, network, net.JoinHostPort(addr.String(), port), trusted, len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

// connectOne gives one address its share of the remaining time, so that a silent address does not use all of it.
func (g *Guard) connectOne(ctx context.Context, network, address string, trusted bool, left int) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok && left > 1 {
		share := time.Until(deadline) / time.Duration(left)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, share)
		defer cancel()
	}
	return g.connect(ctx, network, address, trusted)
}

// resolve returns the addresses of host in the resolver's order. If any address is refused, it returns a *RefusedError even
// if others are allowed, because someone may control that name. Only OnRefused gets the address: callers must not be able to
// look up a network's names.
func (g *Guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	trusted := g.trusts(host)
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, g.judge(addr)
	}
	name := host
	if !trusted {
		name += "." // absolute: ignores the search list of this machine's network
	}
	addrs, err := g.resolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	for i, addr := range addrs {
		addrs[i] = addr.Unmap()
		if err := g.judge(addr); err != nil && !trusted {
			g.refused.tell(host, addr.Unmap())
			return nil, refuse("the host resolves to an address that is not public")
		}
	}
	return addrs, nil
}

// dialer connects to literal addresses. It checks each address just before the socket connects.
func (g *Guard) dialer() func(ctx context.Context, network, address string, trusted bool) (net.Conn, error) {
	free := net.Dialer{KeepAlive: 30 * time.Second}
	guarded := free
	guarded.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return errors.New("connect: not an address and port")
		}
		return g.judge(to.Addr())
	}
	return func(ctx context.Context, network, address string, trusted bool) (net.Conn, error) {
		if trusted {
			return free.DialContext(ctx, network, address)
		}
		return guarded.DialContext(ctx, network, address)
	}
}
