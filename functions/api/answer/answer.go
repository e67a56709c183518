// Package answer writes answers: documents, pages and problems, within what their requests may hold and as fast as callers take them.
//
//	answer.go  Writer watches what is written
//	write.go   JSON, pages and problems; large.go what waits on disk for its caller
//	status.go  the table from error to status
//	turns.go   turns for work that takes a processor for a while
package answer

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-dev/belfry/functions/api/memory"
)

// Writer watches what is written, for the log line and for panics after the first byte.
type Writer struct {
	http.ResponseWriter
	Status int // 0 until the header is written
	Bytes  int64
	Route  string // pattern of the operation: never the path itself
	Cause  error  // the error behind the answer
	Caller string // id of the token it came with, which is no secret

	Hold  memory.Hold   // of memory, once it is known whose request it is
	Spool *memory.Spool // where a large answer waits for its caller. Nil means that it waits in memory
	Head  bool          // there is no body to send
	Turns *memory.Budget
	Ctx   context.Context // of the operation, with its time

	Patience time.Duration // for the caller to take the answer, beside what slowest allows; zero means for ever
}

// slowest is how many bytes a second a caller must take of an answer once its patience is over.
const slowest = 128 << 10

func (w *Writer) WriteHeader(status int) {
	if w.Status == 0 && status >= 200 {
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// begin notes the status and bounds how long the answer may take on its way: one that nobody reads would be kept in
// memory for as long as the connection stands.
func (w *Writer) begin(status int) {
	w.Status = status
	if w.Patience > 0 {
		size, _ := strconv.Atoi(w.Header().Get("Content-Length"))
		// The server lifts it after the answer. A writer that knows no deadlines is a test's or has its own.
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.Patience + time.Duration(size/slowest)*time.Second))
	}
}

func (w *Writer) Write(p []byte) (int, error) {
	if w.Status == 0 {
		w.begin(http.StatusOK)
	}
	n, err := w.ResponseWriter.Write(p)
	w.Bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Fail answers with the problem of err.
func (w *Writer) Fail(err error) {
	w.Cause = err
	Problem(ProblemOf(err), w)
}
