package boot

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// Listen listens on a TCP address. Its error names the address and the reason.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	var cause syscall.Errno
	var name *net.DNSError
	switch {
	case err == nil:
		return listener, nil
	case errors.As(err, &cause):
		return nil, fmt.Errorf("listen on %s: %w", address, cause)
	case errors.As(err, &name):
		return nil, fmt.Errorf("listen on %s: there is no host %s", address, name.Name)
	}
	return nil, fmt.Errorf("listen on %s: %w", address, err)
}
