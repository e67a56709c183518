package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const healthTimeout = 5 * time.Second

// askHealth asks the server that listens on address whether its roles make progress, and prints what it says. It stands
// in for curl in an image that has nothing else.
func askHealth(ctx context.Context, out io.Writer, address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("BELFRY_HEALTH_ADDR: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	res, err := new(http.Transport).RoundTrip(req) // by no proxy
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(out, io.LimitReader(res.Body, 1<<16)); err != nil {
		return fmt.Errorf("health: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return errors.New("health: a role makes no progress")
	}
	return nil
}
