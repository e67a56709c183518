package gcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// Forward listens on a loopback address and forwards each connection to one made by dial, until stop is called. It is for
// code that accepts a database's address but no dial function.
func Forward(ctx context.Context, dial func(ctx context.Context, network, address string) (net.Conn, error)) (address string, stop func() error, err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("gcp: forward: %w", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var open sync.WaitGroup
	open.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			open.Go(func() { pass(ctx, from, dial) })
		}
	})
	return listener.Addr().String(), func() error {
		cancel()
		err := listener.Close()
		open.Wait()
		return err
	}, nil
}

// pass copies in both directions until one side or ctx ends.
func pass(ctx context.Context, from net.Conn, dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	to, err := dial(ctx, "tcp", "")
	if err != nil {
		_ = from.Close() // the client gets a connection that ends at once
		return
	}
	ended := func() { _ = errors.Join(from.Close(), to.Close()) }
	defer context.AfterFunc(ctx, ended)()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			defer ended()
			_, _ = io.Copy(way[0], way[1]) // either side may end at any time
		})
	}
	both.Wait()
}
