package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/memory"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// wrapHandler is what every request passes before its operation and after it.
func (a *API) wrapHandler(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		start := time.Now()
		w := &answer.Writer{ResponseWriter: rw, Route: "none", Patience: a.Limits.TakeTime, Spool: a.Disk, Turns: a.Turns, Head: r.Method == http.MethodHead}
		defer w.Hold.Release()
		defer a.log(w, r, start)
		defer a.recover(w)
		secure(w.Header(), r)
		switch {
		case a.Draining.Load():
			w.Header().Set("Connection", "close") // whoever comes again comes to another process
		case a.KeepAlive > 0 && r.ProtoMajor == 1:
			w.Header().Set("Keep-Alive", "timeout="+strconv.Itoa(int(a.KeepAlive.Seconds())))
		}
		if r.ContentLength != 0 {
			// Holds also where nobody reads the body: the server itself does then, before it answers. It lifts the
			// deadline once the body is read. A writer that knows no deadlines is a test's or has limits of its own.
			_ = http.NewResponseController(w).SetReadDeadline(start.Add(a.Limits.BodyTime))
		}
		if origin.Check(r) != nil {
			w.Fail(problem.New(http.StatusForbidden, "requests from pages of another origin are refused"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// secure sets the headers every answer carries. The pages of /docs loosen the policy for themselves.
func secure(h http.Header, r *http.Request) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" { // browsers heed it over TLS only
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// recover turns a panic into a 500. Once bytes are out nothing is left but to break the connection, so that
// the client sees no whole answer.
func (a *API) recover(w *answer.Writer) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler { //nolint:errorlint // a panic's value, never wrapped
		panic(v)
	}
	// What was thrown may hold a payload: only a fault the runtime found is named, else its type.
	text := fmt.Sprintf("%T", v)
	if e, ok := v.(runtime.Error); ok {
		text = e.Error()
	}
	a.Logger.Error("api: panic", "route", w.Route, "panic", text, "stack", string(debug.Stack()))
	if w.Status != 0 {
		panic(http.ErrAbortHandler)
	}
	w.Fail(problem.New(http.StatusInternalServerError, "internal error; see the server log"))
}

// log writes one line per request: which operation, how it ended, how long it took. Never a path, a query, a
// header or a body.
func (a *API) log(w *answer.Writer, r *http.Request, start time.Time) {
	level := slog.LevelInfo
	switch {
	case w.Status >= 500 && (errors.Is(w.Cause, core.ErrBusy) || errors.Is(w.Cause, memory.ErrCrowded)):
		level = slog.LevelWarn // someone else held a lock, or much memory: the caller tries again
	case w.Status >= 500 && errors.Is(w.Cause, core.ErrStopping):
		level = slog.LevelInfo // as it was told to
	case w.Status >= 500:
		level = slog.LevelError
	case w.Status < 400 && quiet[w.Route]:
		level = slog.LevelDebug
	}
	if !a.Logger.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", methodOf(r)), slog.String("route", w.Route), slog.Int("status", w.Status),
		slog.Duration("duration", time.Since(start)), slog.Int64("bytes", w.Bytes),
	}
	if w.Caller != "" {
		attrs = append(attrs, slog.String("token_id", w.Caller))
	}
	if p := (*problem.Problem)(nil); w.Status >= 500 && w.Cause != nil && !errors.As(w.Cause, &p) {
		attrs = append(attrs, slog.String("error", redact(w.Cause.Error())))
	}
	a.Logger.LogAttrs(r.Context(), level, "api: request", attrs...)
}

// quiet are the routes that machines ask every few seconds.
var quiet = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// methodOf is the method if it is a known one: a stranger's method may hold anything.
func methodOf(r *http.Request) string {
	for _, m := range methods {
		if r.Method == m {
			return m
		}
	}
	return "other"
}
