package call

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"

	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/memory"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// ReadBody reads a JSON body of at most limit bytes. The limit holds while reading: what is beyond it is
// never taken in. Compressed bodies are refused, so there is nothing that could expand.
func (a *Base) ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if p := checkMedia(r.Header); p != nil {
		return nil, p
	}
	if r.ContentLength > limit {
		return nil, tooLarge(limit)
	}
	body, err := a.readAll(w, r, limit)
	if err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, problem.New(http.StatusBadRequest, "the body is empty; it must be a JSON object")
	}
	return body, nil
}

// readOptional reads a body that may be left out; then it is nil. One of unknown length that ends at once is left out too.
func (a *Base) readOptional(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	if r.ContentLength < 0 {
		body := bufio.NewReaderSize(r.Body, 16)
		if _, err := body.Peek(1); errors.Is(err, io.EOF) {
			return nil, nil
		}
		r.Body = peekedBody{body, r.Body}
	}
	return a.ReadBody(w, r, a.Limits.Body)
}

// peekedBody is a body of which the first bytes were looked at.
type peekedBody struct {
	io.Reader
	io.Closer
}

// checkMedia accepts JSON as it is. A missing type is refused too: a page of a stranger can make a browser
// send such a request here, but not one that says it is JSON.
func checkMedia(h http.Header) *problem.Problem {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || media != "application/json" || len(h.Values("Content-Type")) > 1 {
		return problem.Field(http.StatusUnsupportedMediaType, "Content-Type", "must be application/json").With("Accept", "application/json")
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "utf8") {
		return problem.Field(http.StatusUnsupportedMediaType, "Content-Type", "must have no charset but utf-8")
	}
	for _, coding := range h.Values("Content-Encoding") {
		if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
			return problem.Field(http.StatusUnsupportedMediaType, "Content-Encoding", "must be left out: compressed bodies are not accepted").With("Accept-Encoding", "identity")
		}
	}
	return nil
}

// readAll reads the body within its limit, and the time that around has set. From then on the request holds BodyTimes its
// size, for what is made of it.
func (a *Base) readAll(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	body, err := a.take(answer.HoldOf(w), r, http.MaxBytesReader(w, r.Body, limit))
	var exceeded *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &exceeded):
		return nil, tooLarge(limit)
	case errors.Is(err, memory.ErrCrowded), errors.Is(err, memory.ErrNoDisk):
		w.Header().Set("Connection", "close") // the rest of the body is not read
		return nil, fmt.Errorf("%w: %w", memory.ErrCrowded, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, problem.New(http.StatusRequestTimeout, "the body did not arrive in time").With("Connection", "close")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, problem.New(http.StatusBadRequest, "the body ends before its Content-Length")
	}
	return nil, problem.New(http.StatusBadRequest, "the body could not be read to its end")
}

// take takes a body in. A small one of known size has its memory at once.
func (a *Base) take(h *memory.Hold, r *http.Request, from io.Reader) ([]byte, error) {
	if known := r.ContentLength; 0 < known && known <= memory.SpoolAt {
		if err := h.Set(r.Context(), memory.BodyTimes*known); err != nil {
			return nil, err
		}
		body := bytes.NewBuffer(make([]byte, 0, known+bytes.MinRead))
		_, err := body.ReadFrom(from)
		return body.Bytes(), err
	}
	in := &memory.Arriving{Ctx: r.Context(), Hold: h, Spool: a.Disk}
	defer in.Close()
	if _, err := io.Copy(in, from); err != nil {
		return nil, err
	}
	return in.Whole()
}

func tooLarge(limit int64) *problem.Problem {
	return problem.Field(http.StatusRequestEntityTooLarge, "body", fmt.Sprintf("is too large, at most %d bytes are read", limit)).With("Connection", "close")
}
