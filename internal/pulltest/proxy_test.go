package pulltest

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/belfry-dev/belfry/core"
)

// counter stands before an SQS server and counts calls.
type counter struct {
	*httptest.Server

	mu       sync.Mutex
	calls    map[string]int // by operation
	polls    map[string]int // calls that receive, by queue
	received int            // messages handed out
	sent     int            // messages published
}

// count puts a counter before the stage's SQS server.
func (s *stage) count(t *testing.T, endpoint string) *counter {
	t.Helper()
	behind, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	c := &counter{calls: map[string]int{}, polls: map[string]int{}}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	proxy.ModifyResponse = c.answered
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		c.asked(operation(r), body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(c.Close)
	for p, address := range s.urls {
		s.urls[p] = strings.Replace(address, url.QueryEscape(endpoint), url.QueryEscape(c.URL), 1)
	}
	return c
}

// answering is a counter before nobody: it takes what is published, as SQS does, and keeps nothing.
func (s *stage) answering(t *testing.T) *counter {
	t.Helper()
	c := &counter{calls: map[string]int{}, polls: map[string]int{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Entries []struct {
				ID          string `json:"Id"`
				MessageBody string
			}
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &in) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.asked(operation(r), body)
		out := []map[string]string{}
		for _, e := range in.Entries {
			sum := md5.Sum([]byte(e.MessageBody))
			out = append(out, map[string]string{"Id": e.ID, "MessageId": e.ID, "MD5OfMessageBody": hex.EncodeToString(sum[:])})
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		_ = json.NewEncoder(w).Encode(map[string]any{"Successful": out})
	}))
	t.Cleanup(c.Close)
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"} {
		t.Setenv(name, value)
	}
	for _, p := range core.Priorities {
		s.urls[p] = fmt.Sprintf("awssqs://127.0.0.1/123456789012/belfry-%s?region=eu-west-1&endpoint=%s", p, url.QueryEscape(c.URL))
	}
	return c
}

func operation(r *http.Request) string {
	return strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.")
}

func (c *counter) asked(operation string, body []byte) {
	var in struct {
		QueueURL string            `json:"QueueUrl"`
		Entries  []json.RawMessage `json:"Entries"`
	}
	_ = json.Unmarshal(body, &in)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[operation]++
	switch operation {
	case "ReceiveMessage":
		c.polls[in.QueueURL]++
	case "SendMessageBatch":
		c.sent += len(in.Entries)
	}
}

func (c *counter) answered(res *http.Response) error {
	if operation(res.Request) != "ReceiveMessage" {
		return nil
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	var out struct{ Messages []json.RawMessage }
	_ = json.Unmarshal(body, &out)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.received += len(out.Messages)
	return nil
}

// look reads the counts under their lock.
func (c *counter) look(read func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	read()
}
