package aws

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"
)

// Streamed sends the answer as the handler writes it, for Function URLs with the invoke mode RESPONSE_STREAM. It returns at
// the first byte of the body. Lambda reads the rest, which ends with the handler.
func (h HTTP) Streamed(ctx context.Context, event HTTPEvent) (*events.LambdaFunctionURLStreamingResponse, error) {
	ctx, cancel := BeforeDeadline(ctx, answerMargin)
	r, err := h.newRequest(ctx, event)
	if err != nil {
		cancel()
		a, err := refuse(err)
		if err != nil {
			return nil, err
		}
		return &events.LambdaFunctionURLStreamingResponse{StatusCode: a.StatusCode, Headers: a.Headers, Body: strings.NewReader(a.Body)}, nil
	}
	read, write := io.Pipe()
	w := &streamed{header: http.Header{}, pipe: write, started: make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer cancel()
		defer h.begin(ctx)()
		w.serve(h.Handler, r)
	}()
	<-w.started
	answer := &events.LambdaFunctionURLStreamingResponse{StatusCode: w.status, Body: &streamedBody{read, cancel, ended}}
	answer.Headers, answer.Cookies = headersOf(w.sent)
	return answer, nil
}

// streamed is an answer that is being sent.
type streamed struct {
	header  http.Header
	pipe    *io.PipeWriter
	once    sync.Once
	started chan struct{} // closed when the status is written
	sent    http.Header
	status  int
	bodyOff bool // this answer has no body
}

// serve runs the handler, and ends the body when it returns. If the handler panics, the body breaks off, so that the caller
// does not see a complete answer.
func (w *streamed) serve(h http.Handler, r *http.Request) {
	w.bodyOff = r.Method == http.MethodHead
	defer func() {
		if v := recover(); v != nil {
			w.start(http.StatusInternalServerError)
			w.pipe.CloseWithError(fmt.Errorf("aws: the handler broke off: %v", v))
			return
		}
		w.start(http.StatusOK)
		w.pipe.Close()
	}()
	h.ServeHTTP(w, r)
}

func (w *streamed) start(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		w.bodyOff = w.bodyOff || status == http.StatusNoContent || status == http.StatusNotModified
		close(w.started)
	})
}

func (w *streamed) Header() http.Header { return w.header }

func (w *streamed) WriteHeader(status int) {
	if status >= 200 {
		w.start(status)
	}
}

func (w *streamed) Write(p []byte) (int, error) {
	select {
	case <-w.started:
	default:
		if w.header.Get("Content-Type") == "" {
			w.header.Set("Content-Type", http.DetectContentType(p))
		}
		w.start(http.StatusOK)
	}
	if w.bodyOff {
		return len(p), nil
	}
	return w.pipe.Write(p)
}

// Flush does nothing, because writes are sent at once.
func (*streamed) Flush() {}

// streamedBody is read by Lambda. Close ends the handler if necessary and waits for it, because nothing may outlive an
// invocation.
type streamedBody struct {
	*io.PipeReader
	cancel context.CancelFunc
	ended  <-chan struct{}
}

func (b *streamedBody) Close() error {
	err := b.PipeReader.Close()
	b.cancel()
	<-b.ended
	return err
}
