package aws

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
)

func httpEvent(method, path, query string) HTTPEvent {
	e := HTTPEvent{Version: "2.0", RawPath: path, RawQueryString: query, Headers: map[string]string{"host": "api.example.com", "x-many": "a,b"}}
	e.RequestContext.HTTP.Method, e.RequestContext.HTTP.SourceIP, e.RequestContext.Stage = method, "203.0.113.7", "$default"
	e.RequestContext.DomainName = "abc.lambda-url.eu-central-1.on.aws"
	return e
}

// serve passes the request made from an event to look.
func serve(t *testing.T, event HTTPEvent, look func(*http.Request)) HTTPAnswer {
	t.Helper()
	seen := false
	answer, err := HTTP{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = true; look(r) })}.Buffered(t.Context(), event)
	if err != nil || !seen {
		t.Fatalf("seen %v, %v", seen, err)
	}
	return answer
}

func TestRequestOfEvent(t *testing.T) {
	event := httpEvent("PUT", "/v1/types/a%2Fb%20c", "tag=1&tag=2&x=a%26b")
	event.Cookies = []string{"a=1", "b=2"}
	event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte{0xff, 0, 1}), true
	serve(t, event, func(r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != "PUT" || r.URL.EscapedPath() != "/v1/types/a%2Fb%20c" || r.URL.Path != "/v1/types/a/b c" || r.RequestURI != "/v1/types/a%2Fb%20c?tag=1&tag=2&x=a%26b" {
			t.Errorf("%s %q %q", r.Method, r.URL.EscapedPath(), r.RequestURI)
		}
		if q := r.URL.Query(); len(q["tag"]) != 2 || q.Get("x") != "a&b" {
			t.Errorf("query %v", q)
		}
		if c, err := r.Cookie("b"); err != nil || c.Value != "2" {
			t.Errorf("cookie %v, %v", c, err)
		}
		if string(body) != "\xff\x00\x01" || r.ContentLength != 3 || r.Host != "api.example.com" || r.RemoteAddr != "203.0.113.7:0" || r.Header.Get("X-Many") != "a,b" || r.Header.Get("Host") != "" {
			t.Errorf("body %q of %d, host %q, from %q, headers %v", body, r.ContentLength, r.Host, r.RemoteAddr, r.Header)
		}
		if _, ok := r.Context().Deadline(); ok {
			t.Error("a deadline out of nothing")
		}
	})
}

func TestPathsOfEvents(t *testing.T) {
	for _, c := range []struct{ stage, path, want string }{
		{"$default", "/a%2Fb", "/a%2Fb"}, {"prod", "/prod/v1/jobs", "/v1/jobs"}, {"prod", "/prod", "/"}, {"prod", "/product", "/product"},
		{"$default", "", "/"}, {"$default", "/100%zz", "/100%25zz"}, {"$default", "/a b", "/a%20b"}, {"$default", "/x?y#z", "/x%3Fy%23z"},
	} {
		event := httpEvent("GET", c.path, "")
		event.RequestContext.Stage = c.stage
		serve(t, event, func(r *http.Request) {
			if got := r.URL.EscapedPath(); got != c.want {
				t.Errorf("%s in stage %s became %s, want %s", c.path, c.stage, got, c.want)
			}
		})
	}
}

// TestPathsOfHTTPAPIs: an HTTP API decodes a path before it sends it; altogether the path is decoded once.
func TestPathsOfHTTPAPIs(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/types/a%41b": "/v1/types/a%41b", "/v1/types/100%": "/v1/types/100%", "/v1/types/a b?c#d": "/v1/types/a b?c#d", "/v1/types/%2F": "/v1/types/%2F", "/v1/types/é": "/v1/types/é", "/prod/v1/jobs": "/v1/jobs",
	} {
		for _, domain := range []string{"abc.execute-api.eu-central-1.amazonaws.com", "jobs.example.com", ""} {
			event := httpEvent("GET", path, "x=%2541")
			event.RequestContext.DomainName, event.RequestContext.Stage = domain, "prod"
			serve(t, event, func(r *http.Request) {
				if r.URL.Path != want || r.URL.Query().Get("x") != "%41" {
					t.Errorf("%s at %q became %q, query %q", path, domain, r.URL.Path, r.URL.Query().Get("x"))
				}
				if prefix := r.Header.Get("X-Forwarded-Prefix"); (prefix == "/prod") != (path == "/prod/v1/jobs") {
					t.Errorf("%s: prefix %q", path, prefix)
				}
			})
		}
	}
	seen := ""
	h := HTTP{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.URL.EscapedPath() }), EscapePath: func(method, path string) string {
		return strings.Replace(path, "/a/b", "/a%2Fb", 1) + "/" + method
	}}
	event := httpEvent("GET", "/a/b", "")
	event.RequestContext.DomainName = "jobs.example.com"
	if _, err := h.Buffered(t.Context(), event); err != nil || seen != "/a%2Fb/GET" {
		t.Errorf("%q, %v", seen, err)
	}
}

func TestRefusedEvents(t *testing.T) {
	h := HTTP{Handler: http.NotFoundHandler()}
	if _, err := h.Buffered(t.Context(), HTTPEvent{Version: "1.0"}); err == nil {
		t.Error("an event of another version was served")
	}
	bad := httpEvent("GET", "/", "")
	bad.Body, bad.IsBase64Encoded = "!", true
	if a, err := h.Buffered(t.Context(), bad); err != nil || a.StatusCode != http.StatusBadRequest {
		t.Errorf("a damaged body: %+v, %v", a, err)
	}
}

func TestAnswers(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.Header().Add("Vary", "x")
		w.Header().Add("Vary", "y")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, map[string]string{"/text": "näh <b>", "/binary": "\xff\x00", "/large": strings.Repeat("\"", maxPlainBody+1), "/huge": strings.Repeat("x", maxBody+1)}[r.URL.Path])
	})
	for path, binary := range map[string]bool{"/text": false, "/binary": true, "/large": true} {
		a, err := HTTP{Handler: handler}.Buffered(t.Context(), httpEvent("GET", path, ""))
		if err != nil || a.StatusCode != 201 || a.IsBase64Encoded != binary || a.Headers["vary"] != "x, y" || len(a.Cookies) != 2 {
			t.Errorf("%s: %d, base64 %v, %v, %v", path, a.StatusCode, a.IsBase64Encoded, a.Headers, err)
		}
		if path == "/text" && a.Body != "näh <b>" {
			t.Errorf("text came as %q", a.Body)
		}
	}
	if _, err := (HTTP{Handler: handler}).Buffered(t.Context(), httpEvent("GET", "/huge", "")); err == nil {
		t.Error("an answer that Lambda does not take was given")
	}
	if a, err := (HTTP{Handler: handler}).Buffered(t.Context(), httpEvent("HEAD", "/text", "")); err != nil || a.Body != "" {
		t.Errorf("HEAD was answered by %q, %v", a.Body, err)
	}
}

func TestStreamedAnswers(t *testing.T) {
	gone, broken := make(chan struct{}), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		panic(http.ErrAbortHandler)
	})
	endless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		for {
			if _, err := io.WriteString(w, "more"); err != nil || r.Context().Err() != nil {
				return
			}
		}
	})
	a, err := HTTP{Handler: broken}.Streamed(t.Context(), httpEvent("GET", "/", ""))
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(a.Body); string(body) != "half" || err == nil {
		t.Errorf("a broken answer reads as %q, %v", body, err)
	}
	if a, err = (HTTP{Handler: endless}).Streamed(context.WithoutCancel(t.Context()), httpEvent("GET", "/", "")); err != nil || a.StatusCode != 200 {
		t.Fatal(a, err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-gone:
	default:
		t.Error("the handler outlives the invocation")
	}
}
