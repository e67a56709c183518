package aws

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-dev/belfry/core"
)

func messages(n int) []core.Message {
	all := make([]core.Message, n)
	for i := range all {
		all[i] = core.Message{ID: int64(i + 1), Token: 1, Priority: core.Default, Type: "echo"}
	}
	return all
}

func (s *server) topic(t *testing.T, q *Queue) core.Topic {
	t.Helper()
	topic, err := q.OpenTopic(t.Context(), core.Default)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := topic.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return topic
}

func (s *server) subscription(t *testing.T, q *Queue) core.Subscription {
	t.Helper()
	sub, err := q.OpenSubscription(t.Context(), core.Default)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Close(context.Background()) })
	return sub
}

func send(t *testing.T, topic core.Topic, msgs ...core.Message) {
	t.Helper()
	if err := errors.Join(topic.Send(t.Context(), msgs)...); err != nil {
		t.Fatal(err)
	}
}

// batchRequest is the publishing request of this package.
type batchRequest struct {
	Entries []struct {
		ID             string `json:"Id"`
		MessageBody    string
		DelaySeconds   int
		MessageGroupID string `json:"MessageGroupId"`
	}
}

// accept answers a SendMessageBatch as SQS does, and drops the messages.
func accept(t *testing.T, body []byte) string {
	var req batchRequest
	if err := json.Unmarshal(body, &req); err != nil {
		t.Error(err)
	}
	type entry struct {
		ID               string `json:"Id"`
		MessageID        string `json:"MessageId"`
		MD5OfMessageBody string
	}
	var successful []entry
	for _, e := range req.Entries {
		sum := md5.Sum([]byte(e.MessageBody))
		successful = append(successful, entry{e.ID, "m" + e.ID, hex.EncodeToString(sum[:])})
	}
	answer, err := json.Marshal(map[string]any{"Successful": successful})
	if err != nil {
		t.Error(err)
	}
	return string(answer)
}

// The tick's ten thousand jobs are sent in at most 1,100 calls. The sizes of its groups and the number of concurrent Sends
// make no difference. The server here only answers, because the one of the other tests would need minutes.
func TestTenThousandMessagesTakeElevenHundredCalls(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t, QueueOptions{})
	s.setFault(func(operation string, body []byte) (string, bool) {
		return accept(t, body), operation == "SendMessageBatch"
	})
	topic := s.topic(t, q)
	var sends sync.WaitGroup
	all := messages(10_000)
	for len(all) > 0 {
		for _, size := range []int{500, 137, 263} { // 263: as when a tick finds less than a group
			n := min(size, len(all))
			group := all[:n]
			all = all[n:]
			if n > 0 {
				sends.Go(func() {
					for i, err := range topic.Send(t.Context(), group) {
						if err != nil {
							t.Errorf("message %d: %v", group[i].ID, err)
						}
					}
				})
			}
		}
	}
	sends.Wait()
	if n := s.count("SendMessageBatch"); n > 1_100 || n < 1_000 {
		t.Errorf("%d calls", n)
	}
}

// With gocloud.dev's batcher alone, most calls would carry one message.
func TestBatchesAreFilled(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	topic := s.topic(t, s.open(t, QueueOptions{}))
	for _, n := range []int{1, 9, 10, 11, 25, 100} {
		before := s.count("SendMessageBatch")
		send(t, topic, messages(n)...)
		if calls := s.count("SendMessageBatch") - before; calls != (n+9)/10 {
			t.Errorf("%d messages took %d calls", n, calls)
		}
	}
}

// An idle worker makes one call per long poll of 20 s, and no calls while nobody waits.
func TestAnIdleSubscriptionMakesOneCallPerLongPoll(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var waits []int
	q := s.open(t, QueueOptions{})
	sub := s.subscription(t, q)
	release := make(chan struct{}, 10)
	s.setFault(func(operation string, body []byte) (string, bool) {
		var req struct{ WaitTimeSeconds int }
		_ = json.Unmarshal(body, &req)
		if operation == "ReceiveMessage" {
			waits = append(waits, req.WaitTimeSeconds)
			<-release // the long poll, which the test ends
			return `{}`, true
		}
		return "", false
	})
	ctx, cancel := context.WithCancel(t.Context())
	var receiver sync.WaitGroup
	receiver.Go(func() {
		if got, err := sub.Receive(ctx, 100); err == nil {
			t.Errorf("received %d", len(got))
		}
	})
	for range 3 {
		release <- struct{}{}
	}
	eventually(t, func() bool { return len(release) == 0 })
	cancel()
	receiver.Wait()
	release <- struct{}{} // the fourth one, during which Receive was cancelled
	if err := sub.Close(t.Context()); err != nil {
		t.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(waits) > 4 {
		t.Errorf("%d calls for 3 long polls and one given up", len(waits))
	}
	for _, wait := range waits {
		if wait != 20 {
			t.Errorf("a call that waits %d s", wait)
		}
	}
}

func eventually(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); {
		if time.Now().After(deadline) {
			t.Fatal("it does not come")
		}
		<-time.After(10 * time.Millisecond)
	}
}

// hidden counts the messages that a consumer has received.
func hidden(t *testing.T, at place) string {
	t.Helper()
	name := types.QueueAttributeNameApproximateNumberOfMessagesNotVisible
	res, err := at.client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &at.url, AttributeNames: []types.QueueAttributeName{name}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Attributes[string(name)]
}

// A message received before anyone asks for it uses up its visibility timeout and its receipts.
func TestNothingIsReceivedAhead(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q, err := OpenQueue(t.Context(), s.queues(t, map[string]string{"VisibilityTimeout": "600"}, 0), QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	send(t, s.topic(t, q), messages(60)...)
	sub, in := s.subscription(t, q), 0
	handed := map[string]bool{} // a message that comes twice is hidden once
	for _, max := range []int{1, 3, 12, 30} {
		got, err := sub.Receive(t.Context(), max)
		if err != nil {
			t.Fatal(err)
		}
		if in += len(got); len(got) > max {
			t.Errorf("%d came, asked for were %d", len(got), max)
		}
		for _, d := range got {
			handed[string(d.Body())] = true
		}
		if n := hidden(t, q.places[core.Default]); n != itoa(len(handed)) {
			t.Errorf("after %d were handed out %s are hidden", len(handed), n)
		}
	}
	if in < 1+3+10+10 {
		t.Errorf("%d came, want at least 24", in)
	}
}

func TestWhatComesWhenNobodyWaitsIsGivenBackAtOnce(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q, err := OpenQueue(t.Context(), s.queues(t, map[string]string{"VisibilityTimeout": "600"}, 0), QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sub := s.subscription(t, q)
	ctx, cancel := context.WithCancel(t.Context())
	var receiver sync.WaitGroup
	receiver.Go(func() { _, _ = sub.Receive(ctx, 10) })
	eventually(t, func() bool { return s.count("ReceiveMessage") > 0 })
	cancel()
	receiver.Wait()
	send(t, s.topic(t, q), messages(1)...)
	eventually(t, func() bool { return s.count("ChangeMessageVisibilityBatch") > 0 })
	got, err := s.subscription(t, q).Receive(t.Context(), 10) // another worker gets it, long before 600 s
	if err != nil || len(got) != 1 {
		t.Errorf("received %d, %v", len(got), err)
	}
}

// Several messages are acknowledged in one call.
func TestTensAreAcknowledgedByOneCall(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t, QueueOptions{})
	send(t, s.topic(t, q), messages(30)...)
	sub := s.subscription(t, q)
	var all []core.Delivery
	for len(all) < 30 {
		got, err := sub.Receive(t.Context(), 30-len(all))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got...)
	}
	for _, d := range all {
		if err := d.Ack(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := sub.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n := s.count("DeleteMessageBatch"); n > 4 {
		t.Errorf("30 acknowledgements took %d calls", n)
	}
	if err := all[0].Ack(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("Ack after Close: %v", err)
	}
}
