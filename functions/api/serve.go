package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// answer watches what is written, for the log line and for panics after the first byte.
type answer struct {
	http.ResponseWriter
	status int // 0 until the header is written
	bytes  int64
	route  string // pattern of the operation: never the path itself
	cause  error  // the error behind the answer
	caller string // id of the token it came with, which is no secret

	hold  hold   // of memory, once it is known whose request it is
	spool *spool // where a large answer waits for its caller. Nil means that it waits in memory
	head  bool   // there is no body to send
	turns *budget
	ctx   context.Context // of the operation, with its time

	patience time.Duration // for the caller to take the answer, beside what slowest allows; zero means for ever
}

// slowest is how many bytes a second a caller must take of an answer once its patience is over.
const slowest = 128 << 10

func (w *answer) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// begin notes the status and bounds how long the answer may take on its way: one that nobody reads would be kept in
// memory for as long as the connection stands.
func (w *answer) begin(status int) {
	w.status = status
	if w.patience > 0 {
		size, _ := strconv.Atoi(w.Header().Get("Content-Length"))
		// The server lifts it after the answer. A writer that knows no deadlines is a test's or has its own.
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.patience + time.Duration(size/slowest)*time.Second))
	}
}

func (w *answer) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.begin(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(p) //nolint:gosec // documents are sent as JSON with nosniff
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *answer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// fail answers with the problem of err.
func (w *answer) fail(err error) {
	w.cause = err
	writeProblem(problemOf(err), w)
}

// wrapHandler is what every request passes before its operation and after it.
func (a *API) wrapHandler(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		start := time.Now()
		w := &answer{ResponseWriter: rw, route: "none", patience: a.Limits.TakeTime, spool: a.spool, turns: a.turns, head: r.Method == http.MethodHead}
		defer w.hold.release()
		defer a.log(w, r, start)
		defer a.recover(w)
		secure(w.Header(), r)
		switch {
		case a.draining.Load():
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
			w.fail(problem.New(http.StatusForbidden, "requests from pages of another origin are refused"))
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
func (a *API) recover(w *answer) {
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
	a.Logger.Error("api: panic", "route", w.route, "panic", text, "stack", string(debug.Stack()))
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	w.fail(problem.New(http.StatusInternalServerError, "internal error; see the server log"))
}

// log writes one line per request: which operation, how it ended, how long it took. Never a path, a query, a
// header or a body.
func (a *API) log(w *answer, r *http.Request, start time.Time) {
	level := slog.LevelInfo
	switch {
	case w.status >= 500 && (errors.Is(w.cause, core.ErrBusy) || errors.Is(w.cause, errCrowded)):
		level = slog.LevelWarn // someone else held a lock, or much memory: the caller tries again
	case w.status >= 500 && errors.Is(w.cause, core.ErrStopping):
		level = slog.LevelInfo // as it was told to
	case w.status >= 500:
		level = slog.LevelError
	case w.status < 400 && quiet[w.route]:
		level = slog.LevelDebug
	}
	if !a.Logger.Enabled(r.Context(), level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("method", methodOf(r)), slog.String("route", w.route), slog.Int("status", w.status),
		slog.Duration("duration", time.Since(start)), slog.Int64("bytes", w.bytes),
	}
	if w.caller != "" {
		attrs = append(attrs, slog.String("token_id", w.caller))
	}
	if p := (*problem.Problem)(nil); w.status >= 500 && w.cause != nil && !errors.As(w.cause, &p) {
		attrs = append(attrs, slog.String("error", redact(w.cause.Error())))
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
