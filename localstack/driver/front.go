package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

const (
	maxBody   = 6 << 20 // what Lambda takes
	stopGrace = 2 * time.Second
)

// front is a Function URL: it answers requests by invocations of a function.
type front struct {
	api *function
	log *slog.Logger
}

// serve answers until ctx ends.
func serve(ctx context.Context, address string, f front, log *slog.Logger) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: f, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	log.Info("the Function URL of the api is open", "address", l.Addr().String())
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	if errors.Is(server.Shutdown(grace), context.DeadlineExceeded) {
		_ = server.Close()
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (f front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, `{"Message":"Request must be smaller than 6291456 bytes for the InvokeFunction operation"}`, http.StatusRequestEntityTooLarge)
		return
	}
	said, err := f.api.invoke(r.Context(), request(r, body))
	var answer events.LambdaFunctionURLResponse
	if err == nil {
		err = json.Unmarshal(said, &answer)
	}
	content := []byte(answer.Body)
	if err == nil && answer.IsBase64Encoded {
		content, err = base64.StdEncoding.DecodeString(answer.Body)
	}
	if err != nil {
		if r.Context().Err() == nil {
			f.log.Error("function url", "method", r.Method, "path", r.URL.Path, "error", err)
		}
		http.Error(w, `{"Message":"Internal Server Error"}`, http.StatusBadGateway)
		return
	}
	for name, value := range answer.Headers {
		w.Header().Set(name, value)
	}
	for _, cookie := range answer.Cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	w.WriteHeader(max(answer.StatusCode, http.StatusOK))
	_, _ = w.Write(content)
}

// functionURLDomain is what tells the function that its paths come as they were sent: those of an HTTP API were decoded.
const functionURLDomain = "localstack.lambda-url.us-east-1.on.aws"

// request is the event of a request, payload format 2.0.
func request(r *http.Request, body []byte) events.LambdaFunctionURLRequest {
	now := time.Now()
	source, _, _ := net.SplitHostPort(r.RemoteAddr)
	headers := map[string]string{"host": r.Host, "x-forwarded-for": source, "x-forwarded-proto": "http"}
	for name, values := range r.Header {
		if name != "Cookie" {
			headers[strings.ToLower(name)] = strings.Join(values, ",")
		}
	}
	event := events.LambdaFunctionURLRequest{
		Version: "2.0", RawPath: r.URL.EscapedPath(), RawQueryString: r.URL.RawQuery, Headers: headers,
		RequestContext: events.LambdaFunctionURLRequestContext{
			AccountID: "000000000000", RequestID: rand.Text(), APIID: "localstack", DomainName: functionURLDomain, DomainPrefix: "localstack",
			Time: now.UTC().Format("02/Jan/2006:15:04:05 -0700"), TimeEpoch: now.UnixMilli(),
			HTTP: events.LambdaFunctionURLRequestContextHTTPDescription{
				Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: source, UserAgent: r.UserAgent(),
			},
		},
	}
	for _, cookie := range r.Cookies() {
		event.Cookies = append(event.Cookies, cookie.Name+"="+cookie.Value)
	}
	event.Body, event.IsBase64Encoded = string(body), false
	if !utf8.Valid(body) {
		event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return event
}
