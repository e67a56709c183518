package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// longest bounds what a loaded machine may take.
const longest = 2 * time.Minute

// line is a line of the log.
type line struct {
	Msg, What, API, Health, Error string
}

// logLines passes the lines of a log on.
type logLines struct {
	lines chan line
	mu    sync.Mutex
	all   strings.Builder
}

func (l *logLines) Write(text []byte) (int, error) {
	l.mu.Lock()
	l.all.Write(text)
	l.mu.Unlock()
	var read line
	if err := json.Unmarshal(text, &read); err != nil {
		return 0, fmt.Errorf("the log is not JSON: %w: %s", err, text)
	}
	select {
	case l.lines <- read:
	default: // nobody needs so many
	}
	return len(text), nil
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// server is run in this process.
type server struct {
	log   *logLines
	stop  context.CancelFunc
	ended chan error
}

// start runs a server on the environment of the test, with addresses of its own, until the test ends.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	t.Setenv("BELFRY_ADDR", "127.0.0.1:0")
	t.Setenv("BELFRY_HEALTH_ADDR", "127.0.0.1:0")
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{log: &logLines{lines: make(chan line, 10_000)}, stop: cancel, ended: make(chan error, 1)}
	go func() { s.ended <- run(ctx, args, io.Discard, s.log) }()
	t.Cleanup(func() {
		cancel()
		if err := <-s.ended; err != nil {
			t.Errorf("%v: %v\n%s", args, err, s.log)
		}
		s.ended <- nil
	})
	return s
}

// says waits for a line of the log, about something where what is not empty.
func (s *server) says(t *testing.T, message, what string) line {
	t.Helper()
	late := time.After(longest)
	for {
		select {
		case l := <-s.log.lines:
			if l.Msg == message && (what == "" || l.What == what) {
				return l
			}
		case err := <-s.ended:
			s.ended <- nil
			t.Fatalf("ended before it said %q: %v\n%s", message, err, s.log)
		case <-late:
			t.Fatalf("does not say %q\n%s", message, s.log)
		}
	}
}

// end stops the server and returns what run returned.
func (s *server) end() error {
	s.stop()
	err := <-s.ended
	s.ended <- nil
	return err
}

// call makes one request of the API and decodes its answer.
func call(t *testing.T, method, url, body string, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode < 300 {
		err = json.Unmarshal(text, into)
	}
	if err != nil || res.StatusCode >= 300 {
		t.Fatalf("%s %s: %s, %v: %s", method, url, res.Status, err, text)
	}
}

// job is what the API says of one.
type job struct {
	ID, Status string
	Attempts   int
}

// eventually asks until it is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	late := time.After(longest)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("never: %s", what)
		}
	}
}
