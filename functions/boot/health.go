package boot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	healthTimeout = 5 * time.Second
	answerTimeout = 3 * time.Second // of all that one answer asks
	healthAddr    = ":8081"         // if the settings name none
)

// ListenHealth listens on the settings' address. A program that cannot listen does not start.
func ListenHealth(ctx context.Context, s Settings) (net.Listener, error) {
	listener, err := Listen(ctx, s.healthAddr())
	if err != nil {
		return nil, fmt.Errorf("BELFRY_HEALTH_ADDR: %w", err)
	}
	return listener, nil
}

// HealthAnswer returns what GET /healthz answers, as JSON, and whether all is well.
type HealthAnswer func(ctx context.Context) (body any, well bool)

// ServeHealth answers GET /healthz until ctx ends: 200 if all is well, else 503. It closes the listener.
func ServeHealth(ctx context.Context, listener net.Listener, answer HealthAnswer, log *slog.Logger) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), answerTimeout)
		defer cancel()
		status := http.StatusOK
		body, well := answer(ctx)
		if !well {
			status = http.StatusServiceUnavailable
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body) // the caller may have gone
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: healthTimeout, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve health: %w", err)
	case <-ctx.Done():
	}
	err := server.Close()
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// AskHealth asks the program on this machine for its health, at the settings' address, and prints the answer. It replaces
// curl in an image that contains only the program.
func AskHealth(ctx context.Context, s Settings, out io.Writer) error {
	host, port, err := net.SplitHostPort(s.healthAddr())
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
	transport := &http.Transport{DisableKeepAlives: true} // without a proxy; the connection is closed
	res, err := transport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(out, io.LimitReader(res.Body, 1<<16)); err != nil {
		return fmt.Errorf("health: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return errors.New("health: it makes no progress")
	}
	return nil
}

func (s Settings) healthAddr() string {
	if s.HealthAddr == "" {
		return healthAddr
	}
	return s.HealthAddr
}
