package aws

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// account owns the queues: LocalStack takes it from the key, and moto has only one.
const account = "123456789012"

func TestMain(m *testing.M) {
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": account, "AWS_SECRET_ACCESS_KEY": "test", "AWS_EC2_METADATA_DISABLED": "true"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil { // most of the time they wait for visibility timeouts
		panic(err)
	}
	m.Run()
}

// server is a proxy for the SQS server of the tests: it counts calls and cuts connections on demand.
type server struct {
	*httptest.Server

	mu     sync.Mutex
	calls  map[string]int      // by operation
	broken map[string]bool     // by queue URL: receiving fails until the queue is opened again
	dead   map[string][]string // every message that was in a dead-letter queue
	fault  func(operation string, body []byte) (answer string, fake bool)
}

// newServer starts a server for this test.
func newServer(t *testing.T) *server {
	t.Helper()
	return newServerBefore(t, testenv.SQS(t))
}

// newServerBefore starts a proxy for the SQS server at an address.
func newServerBefore(t *testing.T, address string) *server {
	t.Helper()
	behind, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	s := &server{calls: map[string]int{}, broken: map[string]bool{}, dead: map[string][]string{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer, fake := s.look(r.Header.Get("X-Amz-Target"), body)
		switch {
		case answer == "" && fake:
			panic(http.ErrAbortHandler) // cuts the connection
		case fake:
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			fmt.Fprint(w, answer)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// look records a call, and decides whether to answer it here. An empty answer cuts the connection.
func (s *server) look(target string, body []byte) (answer string, fake bool) {
	operation := strings.TrimPrefix(target, "AmazonSQS.")
	var queue struct{ QueueURL string }
	_ = json.Unmarshal(body, &queue)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[operation]++
	switch {
	case s.fault != nil:
		return s.fault(operation, body)
	case operation == "GetQueueAttributes":
		s.broken[queue.QueueURL] = false
	case operation == "ReceiveMessage" && s.broken[queue.QueueURL]:
		return "", true
	}
	return "", false
}

func (s *server) count(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[operation]
}

func (s *server) setFault(fault func(operation string, body []byte) (string, bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// breakReceiving breaks the open subscriptions of a queue.
func (s *server) breakReceiving(queueURL string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken[queueURL] = true
}

// queues creates a queue with dead letters for each priority, and returns the URLs for programs.
func (s *server) queues(t *testing.T, attributes map[string]string, maxReceives int) map[core.Priority]string {
	t.Helper()
	name, urls := strings.ToLower(rand.Text()), map[core.Priority]string{}
	for _, p := range core.Priorities {
		urls[p] = fmt.Sprintf("awssqs://127.0.0.1/%s/%s-%s?region=eu-west-1&endpoint=%s", account, name, p, url.QueryEscape(s.URL))
	}
	q, err := OpenQueue(t.Context(), urls, QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range core.Priorities {
		client := q.places[p].client
		create := func(queue string, attributes map[string]string) {
			if _, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &queue, Attributes: attributes}); err != nil {
				t.Fatal(err)
			}
		}
		queue := fmt.Sprintf("%s-%s", name, p)
		all := map[string]string{}
		for k, v := range attributes {
			all[k] = v
		}
		if maxReceives > 0 {
			create(queue+"-dead", nil)
			all["RedrivePolicy"] = fmt.Sprintf(`{"deadLetterTargetArn":"arn:aws:sqs:eu-west-1:%s:%s-dead","maxReceiveCount":"%d"}`, account, queue, maxReceives)
		}
		create(queue, all)
	}
	return urls
}

// deadLetters returns every message that ever was in a queue's dead-letter queue.
func (s *server) deadLetters(t *testing.T, at place) []string {
	t.Helper()
	dead := at.url + "-dead"
	res, err := at.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &dead, MaxNumberOfMessages: 10, VisibilityTimeout: 3600})
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range res.Messages {
		s.dead[dead] = append(s.dead[dead], aws.ToString(m.Body))
	}
	return slices.Clone(s.dead[dead])
}
