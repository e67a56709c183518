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
	eventVersion    = "2.0"                  // of the events of Function URLs and HTTP APIs
	defaultStage    = "$default"             // the stage of an HTTP API that adds nothing to paths
	functionURLMark = ".lambda-url."         // in the domain of every Function URL, and of no HTTP API
	prefixHeader    = "X-Forwarded-Prefix"   // what comes before the paths that the handler knows
	answerMargin    = 500 * time.Millisecond // before the deadline, for a handler to say that its time is over
	maxPlainBody    = 2 << 20                // in JSON text may grow to twice its size, in base64 by a third
	maxBody         = 4_500_000              // of an answer: Lambda takes 6 MB, as base64
)

// HTTPEvent is what a Function URL sends, and an HTTP API with payload format 2.0: both have one shape.
type HTTPEvent = events.APIGatewayV2HTTPRequest

// HTTPAnswer is the buffered answer to both.
type HTTPAnswer = events.LambdaFunctionURLResponse

// HTTP serves such events by an ordinary handler.
type HTTP struct {
	Handler http.Handler
	Begin   func(ctx context.Context) (end func()) // called around each request. Nil means nobody is told
	// EscapePath gives a path back the encoding that an HTTP API has taken from it; see pathOf. Nil encodes each part.
	EscapePath func(method, path string) string
}

func (h HTTP) begin(ctx context.Context) (end func()) {
	if h.Begin == nil {
		return func() {}
	}
	return h.Begin(ctx)
}

// Buffered answers once the handler has returned.
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

// errEvent is a request that could not be understood: its sender's fault.
var errEvent = errors.New("aws: not a request")

// refuse answers a request that no handler sees.
func refuse(err error) (HTTPAnswer, error) {
	if errors.Is(err, errEvent) {
		return HTTPAnswer{StatusCode: http.StatusBadRequest, Headers: map[string]string{"content-type": "text/plain; charset=utf-8"}, Body: err.Error() + "\n"}, nil
	}
	return HTTPAnswer{}, err
}

// newRequest makes the request that the caller sent.
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
		u.Path, u.RawPath = decoded, path // where that is no encoding of the path it is ignored
	}
	r, err := http.NewRequestWithContext(ctx, event.RequestContext.HTTP.Method, "/", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: its method is no method", errEvent)
	}
	if len(body) == 0 {
		r.Body = http.NoBody
	}
	r.URL, r.RequestURI, r.Proto, r.ProtoMajor, r.ProtoMinor = u, u.RequestURI(), "HTTP/1.1", 1, 1
	for name, value := range event.Headers { // of several of one name the platform makes one, with commas
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
		r.Header.Del(name) // as in any server: they are in the request's own fields
	}
	r.RemoteAddr = net.JoinHostPort(event.RequestContext.HTTP.SourceIP, "0")
	return r, nil
}

// pathOf is the path as its sender encoded it, without the stage that an HTTP API puts before it, and that stage as a prefix.
// A Function URL sends the path as it is. An HTTP API decodes it once, so that a%2Fb comes as a/b and a%2541b as a%41b: it is
// encoded again, to be decoded once in all. Which of its slashes were encoded only the handler can tell, by what it serves.
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

// buffered is an answer in memory.
type buffered struct {
	header http.Header
	sent   http.Header // as it was when the status was written
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

// answer is the whole answer. Text goes as it is, all else as base64.
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

// headersOf puts headers of one name together, and cookies, which cannot be, apart.
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
