package webhook

import (
	"context"
	"sync"
	"time"
)

// Limits bound each stage of an exchange. The Guard bounds resolving and connecting, and the attempt's context bounds the
// whole.
type Limits struct {
	TLS         time.Duration // of the TLS handshake; zero means 10 s
	Answer      time.Duration // from the connection to the answer's header, for jobs without a timeout; zero means 60 s
	Body        time.Duration // of reading the answer's body; zero means 30 s
	Silence     time.Duration // silence of an HTTP/2 connection before a ping, and wait for the ping's answer; zero means 15 s
	HeaderBytes int64         // of the answer's header; zero means 64 KiB
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *time.Duration
		zero  time.Duration
	}{{&l.TLS, 10 * time.Second}, {&l.Answer, time.Minute}, {&l.Body, 30 * time.Second}, {&l.Silence, 15 * time.Second}} {
		if *d.field <= 0 {
			*d.field = d.zero
		}
	}
	if l.HeaderBytes <= 0 {
		l.HeaderBytes = 64 << 10
	}
	return l
}

// slowError is the error of a stage that took too long.
type slowError struct{ stage string }

func (e *slowError) Error() string { return "timed out " + e.stage }

// stages cancels a context when the current stage takes too long.
type stages struct {
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	timer  *time.Timer
}

// newStages returns a context that stages cancels. The caller must call leave.
func newStages(ctx context.Context) (context.Context, *stages) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &stages{cancel: cancel}
}

// enter ends the previous stage and starts the next with its limit.
func (s *stages) enter(stage string, limit time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(limit, func() { s.cancel(&slowError{stage}) })
}

// leave ends the last stage and releases the context.
func (s *stages) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
	s.cancel(context.Canceled)
}
