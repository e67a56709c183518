package aws

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

func itoa(n int) string { return strconv.Itoa(n) }

// SQS may accept some messages of a batch and refuse others. gocloud.dev then reports an error for all of them, so none is
// known to be published. Other batches are not affected.
func TestABatchThatFailsInPartIsUnknownAsAWhole(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t, QueueOptions{})
	s.setFault(func(operation string, body []byte) (string, bool) {
		if operation != "SendMessageBatch" {
			return "", false
		}
		if !strings.Contains(string(body), `\"id\":\"13\"`) {
			return accept(t, body), true
		}
		return `{"Successful": [], "Failed": [{"Id": "3", "Code": "InternalError", "SenderFault": false, "Message": "we are sorry"}]}`, true
	})
	known := map[bool]int{}
	for _, err := range s.topic(t, q).Send(t.Context(), messages(30)) {
		known[err == nil]++
		if err != nil && !strings.Contains(err.Error(), "InternalError") {
			t.Errorf("the error does not say why: %v", err)
		}
	}
	if known[false] != 10 || known[true] != 20 {
		t.Errorf("%d are known to be published, %d are not; want 20 and 10", known[true], known[false])
	}
}

// Without an answer a Send ends with its context, and Close cancels the calls in progress.
func TestASendThatHangsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t, QueueOptions{})
	hang := make(chan struct{})
	entered := make(chan struct{}, 100)
	s.setFault(func(operation string, _ []byte) (string, bool) {
		if operation == "SendMessageBatch" {
			s.mu.Unlock()
			entered <- struct{}{}
			<-hang
			s.mu.Lock()
		}
		return "", false
	})
	topic, err := q.OpenTopic(t.Context(), core.Default)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	for i, err := range topic.Send(ctx, messages(15)) {
		if err == nil {
			t.Errorf("message %d is said to be published", i)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := topic.Close(ended); err == nil {
		t.Error("Close that cuts something off says nothing of it")
	}
	close(hang)
}

// Fields that gocloud.dev does not know are set through As, and reach SQS.
func TestDelayAndTenantReachSQS(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t, QueueOptions{FairTenants: true, Delay: func(m core.Message) time.Duration { return time.Duration(m.ID) * 1500 * time.Millisecond }})
	var delays []int
	var groups []string
	s.setFault(func(operation string, body []byte) (string, bool) {
		var req batchRequest
		if err := json.Unmarshal(body, &req); err != nil {
			t.Error(err)
		}
		for _, e := range req.Entries {
			delays, groups = append(delays, e.DelaySeconds), append(groups, e.MessageGroupID)
		}
		return "", false // the server handles it, too
	})
	msgs := messages(4)
	msgs[1].Tenant, msgs[2].Tenant, msgs[3].Tenant = "acme", "Ärzte", strings.Repeat("t", 200)
	msgs[3].ID = 4711
	send(t, s.topic(t, q), msgs...)
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(delays)
	if !slices.Equal(delays, []int{2, 3, 5, 900}) {
		t.Errorf("delays %v", delays)
	}
	if !slices.Contains(groups, "") || !slices.Contains(groups, "acme") {
		t.Errorf("groups %q", groups)
	}
	for _, g := range groups {
		if len(g) > 128 || strings.Trim(g, groupCharacters) != "" {
			t.Errorf("SQS refuses the group %q", g)
		}
	}
}

func TestADelayedMessageIsNotReceivedBefore(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t, QueueOptions{Delay: func(core.Message) time.Duration { return 3 * time.Second }})
	began := time.Now()
	send(t, s.topic(t, q), messages(1)...)
	if _, err := s.subscription(t, q).Receive(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if waited := time.Since(began); waited < 2*time.Second { // SQS counts in seconds
		t.Errorf("received after %s", waited)
	}
}

// A host's lease overrides the queue's visibility timeout, which may be longer for an event source mapping.
func TestVisibilityOfTheHostGoesBeforeTheQueues(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q, err := OpenQueue(t.Context(), s.queues(t, map[string]string{"VisibilityTimeout": "600"}, 0), QueueOptions{Visibility: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	send(t, s.topic(t, q), messages(1)...)
	sub := s.subscription(t, q)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 2 {
		if _, err := sub.Receive(ctx, 1); err != nil {
			t.Fatal(err)
		}
	}
}

// A request for more than ten messages must not wait, even if the queue's own setting makes every call wait.
func TestMoreIsNotWaitedForTwentySeconds(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q, err := OpenQueue(t.Context(), s.queues(t, map[string]string{"ReceiveMessageWaitTimeSeconds": "20"}, 0), QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sub := s.subscription(t, q)
	var waits []int
	s.setFault(func(operation string, body []byte) (string, bool) {
		var req struct{ WaitTimeSeconds int }
		_ = json.Unmarshal(body, &req)
		if operation == "ReceiveMessage" {
			waits = append(waits, req.WaitTimeSeconds)
		}
		return "", false
	})
	send(t, s.topic(t, q), messages(10)...)
	if _, err := sub.Receive(t.Context(), 20); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(waits, []int{20, 1}) {
		t.Errorf("calls waited %v s", waits)
	}
}

// Without dead letters an unreadable message would come again for days.
func TestRejectEndsAMessageWhereThereAreNoDeadLetters(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q, err := OpenQueue(t.Context(), s.queues(t, nil, 0), QueueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	send(t, s.topic(t, q), messages(1)...)
	sub := s.subscription(t, q)
	got, err := sub.Receive(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := got[0].(core.Rejecter).Reject(t.Context()); err != nil {
		t.Error(err)
	}
	eventually(t, func() bool { return s.count("DeleteMessageBatch") == 1 })
}

// Ack returns before the acknowledgement is sent. If it fails, the next Receive returns the error, and the worker opens
// another subscription.
func TestAFailedAcknowledgementIsToldByTheNextReceive(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	q := s.open(t, QueueOptions{})
	send(t, s.topic(t, q), messages(1)...)
	sub := s.subscription(t, q)
	got, err := sub.Receive(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	s.setFault(func(operation string, _ []byte) (string, bool) { return "", operation == "DeleteMessageBatch" })
	if err := got[0].Ack(t.Context()); err != nil {
		t.Error(err)
	}
	eventually(t, func() bool { return sub.(*subscription).failure() != nil })
	if _, err := sub.Receive(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "acknowledge") {
		t.Errorf("Receive: %v", err)
	}
}

func TestOpenQueueRefuses(t *testing.T) {
	good := "awssqs://sqs.eu-west-1.amazonaws.com/123456789012/q?region=eu-west-1"
	for url, say := range map[string]string{
		"":                             "critical",
		"mem://critical":               "awssqs",
		"kafka://topic":                "offsets",
		"nats://subject":               "at most once",
		"awssqs://":                    "HOST/ACCOUNT/QUEUE",
		"awssqs://host/1/q.fifo":       "FIFO",
		good + "&color=red":            "color",
		good + "&hostname_immutable=x": "hostname_immutable",
	} {
		_, err := OpenQueue(t.Context(), map[core.Priority]string{core.Critical: url, core.Default: good, core.Bulk: good}, QueueOptions{})
		if err == nil || !strings.Contains(err.Error(), say) || !strings.Contains(err.Error(), "critical") {
			t.Errorf("%q: got %v, want %q", url, err, say)
		}
	}
	urls := map[core.Priority]string{core.Critical: good, core.Default: good + "&raw=true&nacklazy=true&waittime=20s", core.Bulk: good}
	if _, err := OpenQueue(t.Context(), urls, QueueOptions{}); err != nil {
		t.Error(err)
	}
	for _, v := range []time.Duration{-time.Second, 13 * time.Hour, 1500 * time.Millisecond} {
		if _, err := OpenQueue(t.Context(), urls, QueueOptions{Visibility: v}); err == nil {
			t.Errorf("visibility %s is not refused", v)
		}
	}
}
