package client_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/client"
)

// patient answers ?wait= as a server does: after the job ends or the time is over.
type patient struct {
	end   time.Time // of the job
	waits []time.Duration
}

func (p *patient) RoundTrip(r *http.Request) (*http.Response, error) {
	wait := time.Duration(0)
	if text := r.URL.Query().Get("wait"); text != "" {
		var err error
		if wait, err = time.ParseDuration(text); err != nil {
			return nil, err
		}
		p.waits = append(p.waits, wait)
	}
	timer := time.NewTimer(min(wait, max(time.Until(p.end), 0)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	status := "running"
	if !time.Now().Before(p.end) {
		status = "done"
	}
	body := strings.Replace(jobBody, "scheduled", status, 1)
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// TestWaitUnderATimeout: Wait returns when the job has ended, without a failed try, under any timeout of the http.Client.
func TestWaitUnderATimeout(t *testing.T) {
	for timeout, most := range map[time.Duration]time.Duration{0: 30 * time.Second, 10 * time.Second: 8 * time.Second, time.Second: 900 * time.Millisecond, 50 * time.Millisecond: 45 * time.Millisecond, 10 * time.Minute: 30 * time.Second} {
		t.Run(timeout.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				server := &patient{end: start.Add(100 * time.Second)}
				c, err := client.New("http://belfry.invalid", client.Options{HTTPClient: &http.Client{Transport: server, Timeout: timeout}, Retry: client.Retry{Tries: 1}})
				if err != nil {
					t.Fatal(err)
				}
				job, err := c.Wait(t.Context(), "7")
				if err != nil || job.Status != client.Done || time.Since(start) != 100*time.Second {
					t.Fatalf("%v, %v after %s", job, err, time.Since(start))
				}
				for _, wait := range server.waits {
					if wait > most || wait < most/2 {
						t.Fatalf("it asked to wait %s", wait)
					}
				}
			})
		})
	}
}

// TestWaitUnderATransportsTimeout: the transport's timeout for response headers counts too.
func TestWaitUnderATransportsTimeout(t *testing.T) {
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := "running"
		if asked = r.URL.Query().Get("wait"); asked != "" {
			status = "done"
		}
		fmt.Fprint(w, strings.Replace(jobBody, "scheduled", status, 1))
	}))
	defer server.Close()
	transport := &http.Transport{ResponseHeaderTimeout: 4 * time.Second}
	defer transport.CloseIdleConnections()
	c, err := client.New(server.URL, client.Options{HTTPClient: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	if job, err := c.Wait(t.Context(), "7"); err != nil || job.Status != client.Done || asked != "3s" {
		t.Errorf("%v, %v, asked to wait %q", job, err, asked)
	}
}
