package aws

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

const (
	eventVersion    = "2.0"                  // version of the events of Function URLs and HTTP APIs
	defaultStage    = "$default"             // stage of an HTTP API that adds nothing to paths
	functionURLMark = ".lambda-url."         // part of the domain of every Function URL, and of no HTTP API
	prefixHeader    = "X-Forwarded-Prefix"   // prefix of the paths that the handler knows
	answerMargin    = 500 * time.Millisecond // before the deadline, for a handler to report its timeout
	maxPlainBody    = 2 << 20                // text may double its size in JSON; base64 adds a third
	maxBody         = 4_500_000              // of an answer: Lambda accepts 6 MB, as base64
)

// HTTPEvent is the event of a Function URL, and of an HTTP API with payload format 2.0. Both have the same form.
type HTTPEvent = events.APIGatewayV2HTTPRequest

// HTTPAnswer is the buffered answer to either.
type HTTPAnswer = events.LambdaFunctionURLResponse

// HTTP serves such events with an ordinary handler.
type HTTP struct {
	Handler http.Handler
	Begin   func(ctx context.Context) (end func()) // called at the start and the end of each request. Nil means no call
	// EscapePath restores the encoding of a path that an HTTP API has decoded; see pathOf. Nil encodes each part.
	EscapePath func(method, path string) string
}

func (h HTTP) begin(ctx context.Context) (end func()) {
	if h.Begin == nil {
		return func() {}
	}
	return h.Begin(ctx)
}

// Buffered returns the answer once the handler has returned.
func (h HTTP) Buffered(ctx context.Context, event HTTPEvent) (HTTPAnswer, error) {
	ctx, cancel := BeforeDeadline(ctx, answerMargin)
	defer cancel()
	defer h.begin(ctx)()
	r, err := h.newRequest(ctx, event)
	if err != nil {
		return refuse(err)
	}
	w := &buffered{header: http.Header{}}
	h.Handler.ServeHTTP(w, r)
	if w.body.Len() > maxBody {
		return HTTPAnswer{}, fmt.Errorf("aws: an answer of %d bytes does not fit through Lambda", w.body.Len())
	}
	return w.answer(r.Method), nil
}

// errEvent is the error of an invalid request: its sender's fault.
var errEvent = errors.New("aws: not a request")

// refuse answers a request that does not reach a handler.
func refuse(err error) (HTTPAnswer, error) {
	if errors.Is(err, errEvent) {
		return HTTPAnswer{StatusCode: http.StatusBadRequest, Headers: map[string]string{"content-type": "text/plain; charset=utf-8"}, Body: err.Error() + "\n"}, nil
	}
	return HTTPAnswer{}, err
}

// newRequest makes the caller's request from the event.
func (h HTTP) newRequest(ctx context.Context, event HTTPEvent) (*http.Request, error) {
	if event.Version != eventVersion || event.RequestContext.HTTP.Method == "" {
		return nil, fmt.Errorf("aws: want an event of a Function URL or an HTTP API with payload format %s, got version %q", eventVersion, event.Version)
	}
	body := []byte(event.Body)
	if event.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(event.Body); err != nil {
			return nil, fmt.Errorf("%w: its body is not base64", errEvent)
		}
	}
	prefix, path := h.pathOf(event)
	u := &url.URL{Path: path, RawQuery: event.RawQueryString}
	if decoded, err := url.PathUnescape(path); err == nil {
		u.Path, u.RawPath = decoded, path // ignored if path is not an encoding of decoded
	}
	r, err := http.NewRequestWithContext(ctx, event.RequestContext.HTTP.Method, "/", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: its method is invalid", errEvent)
	}
	if len(body) == 0 {
		r.Body = http.NoBody
	}
	r.URL, r.RequestURI, r.Proto, r.ProtoMajor, r.ProtoMinor = u, u.RequestURI(), "HTTP/1.1", 1, 1
	for name, value := range event.Headers { // the platform joins repeated headers with commas
		r.Header.Set(name, value)
	}
	if len(event.Cookies) > 0 {
		r.Header.Set("Cookie", strings.Join(event.Cookies, "; "))
	}
	if prefix != "" && r.Header.Get(prefixHeader) == "" {
		r.Header.Set(prefixHeader, prefix)
	}
	r.Host = r.Header.Get("Host")
	if r.Host == "" {
		r.Host = event.RequestContext.DomainName
	}
	for _, name := range []string{"Host", "Content-Length", "Transfer-Encoding", "Connection"} {
		r.Header.Del(name) // as in any server: the request has fields for them
	}
	r.RemoteAddr = net.JoinHostPort(event.RequestContext.HTTP.SourceIP, "0")
	return r, nil
}

// pathOf returns the path as its sender encoded it, and the HTTP API's stage before it as a prefix. A Function URL sends the
// path unchanged. An HTTP API decodes it once, so that a%2Fb comes as a/b and a%2541b as a%41b. pathOf encodes it again, so
// that it is decoded once altogether. Only the handler can tell which slashes were encoded, by the paths it serves.
func (h HTTP) pathOf(event HTTPEvent) (prefix, path string) {
	path = event.RawPath
	if stage := event.RequestContext.Stage; stage != "" && stage != defaultStage {
		if rest, ok := strings.CutPrefix(path, "/"+stage); ok && (rest == "" || rest[0] == '/') {
			prefix, path = "/"+stage, rest
		}
	}
	switch {
	case path == "":
		path = "/"
	case strings.Contains(event.RequestContext.DomainName, functionURLMark):
	case h.EscapePath != nil:
		path = h.EscapePath(event.RequestContext.HTTP.Method, path)
	default:
		path = (&url.URL{Path: path}).EscapedPath()
	}
	return prefix, path
}

// buffered holds an answer in memory.
type buffered struct {
	header http.Header
	sent   http.Header // the headers when the status was written
	status int
	body   bytes.Buffer
}

func (w *buffered) Header() http.Header { return w.header }

func (w *buffered) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status, w.sent = status, w.header.Clone()
	}
}

func (w *buffered) Write(p []byte) (int, error) {
	if w.status == 0 {
		if w.header.Get("Content-Type") == "" {
			w.header.Set("Content-Type", http.DetectContentType(p))
		}
		w.WriteHeader(http.StatusOK)
	}
	return w.body.Write(p)
}

// answer returns the whole answer: text as it is, everything else as base64.
func (w *buffered) answer(method string) HTTPAnswer {
	w.WriteHeader(http.StatusOK)
	a := HTTPAnswer{StatusCode: w.status}
	a.Headers, a.Cookies = headersOf(w.sent)
	if method == http.MethodHead || w.status == http.StatusNoContent || w.status == http.StatusNotModified {
		return a
	}
	body := w.body.Bytes()
	if w.sent.Get("Content-Encoding") == "" && len(body) <= maxPlainBody && utf8.Valid(body) {
		a.Body = string(body)
		return a
	}
	a.Body, a.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	return a
}

// headersOf joins headers with the same name, and returns cookies separately, because they cannot be joined.
func headersOf(header http.Header) (headers map[string]string, cookies []string) {
	headers = map[string]string{}
	for name, values := range header {
		if name == "Set-Cookie" {
			cookies = values
			continue
		}
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return headers, cookies
}
