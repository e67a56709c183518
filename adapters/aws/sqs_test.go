package aws

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuetest"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// open creates queues and opens them.
func (s *server) open(t *testing.T, opts QueueOptions) *Queue {
	t.Helper()
	q, err := OpenQueue(t.Context(), s.queues(t, map[string]string{"VisibilityTimeout": "8"}, 3), opts)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestQueue(t *testing.T) { runContract(t, newServer(t)) }

// The same on LocalStack, if it is available: the two servers differ from SQS in different ways.
func TestQueueOnLocalStack(t *testing.T) {
	runContract(t, newServerBefore(t, testenv.LocalStack(t)))
}

func runContract(t *testing.T, servers *server) {
	t.Helper()
	queuetest.Run(t, queuetest.Harness{
		Open: func(t *testing.T) core.Queue {
			return servers.open(t, QueueOptions{RejectAfter: time.Second})
		},
		Visibility: 8 * time.Second,
		Patience:   60 * time.Second,
		Batch:      100, // moto goes through all messages of a queue for each one it sends or receives
		Publish: func(t *testing.T, q core.Queue, p core.Priority, body []byte) {
			at := q.(*Queue).places[p]
			if _, err := at.client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &at.url, MessageBody: aws.String(strings.ToValidUTF8(string(body), "\ufffd"))}); err != nil {
				t.Fatal(err)
			}
		},
		DeadLetters: func(t *testing.T, q core.Queue, p core.Priority) []string {
			return servers.deadLetters(t, q.(*Queue).places[p])
		},
		MaxDeliveries: 3,
		Break:         func(_ *testing.T, q core.Queue, p core.Priority) { servers.breakReceiving(q.(*Queue).places[p].url) },
		Wrap: func(t *testing.T, test func(*testing.T)) {
			t.Parallel() // most of the time they wait for visibility timeouts
			test(t)
		},
	})
}
