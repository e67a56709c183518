package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/belfry-dev/belfry/adapters/aws"
)

// emulator serves invocations as the Runtime Interface Emulator does, by a function that is in this process.
func emulator(t *testing.T, serve func(event []byte) (any, error)) *function {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/2015-03-31/functions/function/invocations" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		answer, err := serve(event)
		if err != nil {
			answer = map[string]string{"errorType": "errorString", "errorMessage": err.Error()}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(s.Close)
	return newFunction("test", strings.TrimPrefix(s.URL, "http://"))
}

// What goes through a Function URL's events and answers is what a server would have seen and said.
func TestFrontPassesRequestsOn(t *testing.T) {
	seen := make(chan *http.Request, 1)
	body := make(chan string, 1)
	function := aws.HTTP{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read, _ := io.ReadAll(r.Body)
		seen <- r
		body <- string(read)
		w.Header().Set("X-Answer", "yes")
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "1"})
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte{0xff, 0x00, 'x'})
	})}
	api := emulator(t, func(event []byte) (any, error) {
		var e aws.HTTPEvent
		if err := json.Unmarshal(event, &e); err != nil {
			return nil, err
		}
		return function.Buffered(t.Context(), e)
	})
	s := httptest.NewServer(front{api: api, log: slog.New(slog.DiscardHandler)})
	t.Cleanup(s.Close)
	for _, sent := range []string{"", `{"naïve":"✓"}`, "\xff\xfe\x00"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/jobs/a%2Fb?tag=a%20b&tag=c", strings.NewReader(sent))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer x")
		r.AddCookie(&http.Cookie{Name: "c", Value: "3"})
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusAccepted || string(said) != "\xff\x00x" || res.Header.Get("X-Answer") != "yes" || len(res.Cookies()) != 2 {
			t.Fatalf("%d %q %v %v", res.StatusCode, said, res.Header, err)
		}
		got := <-seen
		if got.Method != http.MethodPost || got.URL.EscapedPath() != "/v1/jobs/a%2Fb" || got.URL.RawQuery != "tag=a%20b&tag=c" ||
			got.Header.Get("Authorization") != "Bearer x" || got.Header.Get("Cookie") != "c=3" || got.Host == "" {
			t.Errorf("the function saw %s %s %v", got.Method, got.URL, got.Header)
		}
		if got := <-body; got != sent {
			t.Errorf("the function read %q, sent was %q", got, sent)
		}
	}
}

// A function that fails is a 502, whatever else it said.
func TestFrontOfAFunctionThatFails(t *testing.T) {
	s := httptest.NewServer(front{api: emulator(t, func([]byte) (any, error) { return nil, io.ErrUnexpectedEOF }), log: slog.New(slog.DiscardHandler)})
	t.Cleanup(s.Close)
	res, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusBadGateway {
		t.Error(res.Status)
	}
}
