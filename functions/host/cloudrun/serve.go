package cloudrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host"
)

const (
	// StopTime is how long Cloud Run waits after SIGTERM before it ends the container as a power cut would.
	StopTime = 10 * time.Second
	// MaxGrace is how long running jobs may go on of that: stopping a worker takes twice as long at most.
	MaxGrace = 4 * time.Second
	// MaxDelay is how long requests may be answered of that before the stop begins.
	MaxDelay = 5 * time.Second

	finishTime = 500 * time.Millisecond // of that, for what is still in memory after the last request
	headerTime = 10 * time.Second
	bodyTime   = 30 * time.Second
	maxHeader  = 64 << 10
)

// HealthPath is answered as soon as the container serves, for start-up and liveness probes. Cloud Run keeps some paths
// that end with z, such as /healthz, to itself.
const HealthPath = "/health"

// Service is what a container serves.
type Service struct {
	Handler http.Handler
	// Work works beside the requests until ctx ends, and has then ended what they wait for. Nil means nothing does.
	Work func(ctx context.Context) error
	// Drain is called first of all: from then on the service says that it is not ready, and answers all the same for Delay,
	// MaxDelay at most. Nil means that it stops at once.
	Drain func()
	Delay time.Duration
	// KeepAlive is how long a connection is kept on which no request comes. Zero means for ever.
	KeepAlive time.Duration
	// Stop is called when the container is told to end, after the delay: requests that wait for something to happen end. Nil means
	// that none do.
	Stop func()
	// Finish is called last, after the last request. Nil means that nothing is left in memory.
	Finish func(ctx context.Context) error
}

// Main opens everything and serves what serve makes of it, until the container is told to end. The context that serve
// gets ends then. What cannot be opened ends the process at once.
func Main(serve func(context.Context, *host.Host) (*Service, error)) {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, serve)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, serve func(context.Context, *host.Host) (*Service, error)) (err error) {
	h, err := host.Open(ctx, Platform())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	s, err := serve(ctx, h)
	if err != nil {
		return err
	}
	listener, err := boot.Listen(ctx, ":"+cmp.Or(os.Getenv("PORT"), "8080"))
	if err != nil {
		return err
	}
	return s.run(ctx, listener, h.Log)
}

// run serves until ctx ends or the work beside fails. Then no request is taken, and those at hand end, with the work
// beside, within StopTime.
func (s *Service) run(ctx context.Context, listener net.Listener, log *slog.Logger) error {
	server := &http.Server{
		Handler: withBodyTime(withHealth(s.Handler), bodyTime), ReadHeaderTimeout: headerTime, IdleTimeout: s.KeepAlive, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	work, endWork := context.WithCancel(ctx)
	defer endWork()
	worked := make(chan error, 1)
	go func() {
		if s.Work == nil {
			<-work.Done()
			worked <- nil
			return
		}
		worked <- s.Work(work)
	}()
	log.Info("serving", "address", listener.Addr().String(), "version", boot.Version())
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	var early, broken error
	ended := false
	select {
	case <-ctx.Done():
	case early = <-worked:
		ended = true
	case broken = <-served:
	}
	log.Info("stopping")
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopTime-finishTime)
	defer cancel()
	if s.Drain != nil && broken == nil {
		s.Drain()
		select {
		case <-time.After(min(s.Delay, MaxDelay)):
		case broken = <-served:
		}
	}
	if s.Stop != nil {
		s.Stop()
	}
	endWork()
	shut := server.Shutdown(rest)
	if errors.Is(shut, context.DeadlineExceeded) {
		shut = server.Close()
	}
	if !ended {
		early = <-worked
	}
	if broken == nil {
		broken = <-served
	}
	if errors.Is(broken, http.ErrServerClosed) {
		broken = nil
	}
	return errors.Join(early, broken, shut, s.finish(ctx))
}

// withHealth answers HealthPath, and passes every other request to next.
func withHealth(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == HealthPath && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			w.WriteHeader(http.StatusOK)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// withBodyTime bounds how long a request's body may take to arrive. It holds also where nobody reads the body, as of a
// caller that is turned away: the server itself does then. It lifts the deadline once the body is read.
func withBodyTime(next http.Handler, most time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			// A writer that knows no deadlines is a test's.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(most))
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Service) finish(ctx context.Context) error {
	if s.Finish == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTime)
	defer cancel()
	return s.Finish(ctx)
}
