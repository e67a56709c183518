package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"
)

// pause is the wait after the nth try (1 is the first): it doubles from MinWait to MaxWait, and half of it is random, so
// that many clients do not retry at the same moment.
func (r *Retry) pause(try int) time.Duration {
	d := r.MinWait
	for i := 1; i < try && d < r.MaxWait; i++ {
		d *= 2
	}
	d = min(d, r.MaxWait)
	return d/2 + time.Duration(float64(d/2)*r.Chance())
}

// verdict says how a call goes on after a try.
type verdict struct {
	again bool
	wait  time.Duration // at least this long
}

// judge decides what follows a failed try. repeatable says that the call may reach the server twice.
func (r *Retry) judge(err error, repeatable bool) verdict {
	var p *Problem
	if !errors.As(err, &p) {
		return verdict{again: (repeatable || neverSent(err)) && !errors.Is(err, ErrForeign)}
	}
	v := verdict{wait: p.RetryAfter}
	switch {
	case p.Status == http.StatusTooManyRequests:
		v.again = true // refused before anything was done
	case p.transient():
		v.again = repeatable // after these the server may or may not have done it
	case p.Status == http.StatusConflict:
		v.again = repeatable && p.RetryAfter > 0 // the first try with this Idempotency-Key is still running
	}
	v.again = v.again && v.wait <= r.MaxWait
	return v
}

// neverSent reports whether the server cannot have received the request, because there was no connection.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// sleep waits, or returns why ctx ended.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// retryAfter reads the header in both its forms. A malformed or past value counts as none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return time.Duration(max(n, 0)) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(t.Sub(now), 0)
	}
	return 0
}
