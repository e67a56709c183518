package aws_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// receiver takes webhooks, and verifies each with the secret of the deployment.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	secrets  string
	verified int
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		newest, _, _ := strings.Cut(r.secrets, ",")
		verifier, err := standardwebhooks.NewWebhook(newest)
		if err == nil {
			var body []byte
			if body, err = io.ReadAll(q.Body); err == nil {
				err = verifier.Verify(body, q.Header)
			}
		}
		if err != nil {
			t.Errorf("a delivery that does not verify: %v", err)
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		r.verified++
		_, _ = io.WriteString(w, `{"received":true}`)
	}))
	t.Cleanup(r.Close)
	return r
}

// allow is what a deployment's settings must say for it to be reached.
func (r *receiver) allow() (hosts, ports string) {
	_, port, _ := net.SplitHostPort(r.Listener.Addr().String())
	return "127.0.0.1", port
}

func (c *cloud) secretText(t *testing.T, arn string) string {
	t.Helper()
	client := secretsmanager.New(secretsmanager.Options{Region: region, BaseEndpoint: &c.url, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	got, err := client.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: &arn})
	if err != nil {
		t.Fatal(err)
	}
	return *got.SecretString
}

// job is what the API says of one.
type job struct {
	ID, Status, Schedule string
	Errors               []any
}

// play plays the schedule and the mappings of the queues while do runs.
func (c *cloud) play(t *testing.T, is outputs, do func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var playing sync.WaitGroup
	defer playing.Wait()
	defer cancel()
	playing.Go(func() { c.playSchedule(ctx, t, is.Belfry.FunctionNames["tick"]) })
	for priority, queue := range is.Belfry.QueueURLs {
		worker := is.Belfry.FunctionNames["worker_"+priority]
		role := worker
		if worker == "" {
			// The long worker's queue is worked off here by another worker: ECS does not run in this test.
			worker, role = is.Belfry.FunctionNames["worker_default"], deploymentName+"-worker-long"
		}
		playing.Go(func() { c.playMapping(ctx, t, queue, worker, role) })
	}
	do()
}

// workOff submits jobs of each priority, a schedule and a webhook, and waits until all are done.
func workOff(t *testing.T, c *cloud, is outputs, r *receiver) {
	t.Helper()
	r.mu.Lock()
	r.secrets = c.secretText(t, is.Belfry.Webhooks)
	r.mu.Unlock()
	wanted := map[string]string{}
	submit := func(what, body string) {
		var made job
		c.call(t, "POST", "/v1/jobs", body, &made)
		wanted[made.ID] = what
	}
	for _, priority := range []string{"critical", "default", "bulk"} {
		submit(priority, fmt.Sprintf(`{"type":"echo","payload":{"of":%q},"priority":%[1]q}`, priority))
		submit(priority+", again", fmt.Sprintf(`{"type":"fail","payload":{"times":1},"priority":%q,"backoff":["1s"]}`, priority))
		submit(priority+", later", fmt.Sprintf(`{"type":"echo","payload":{"of":%q},"priority":%[1]q,"delay":"2s"}`, priority))
	}
	submit("webhook", fmt.Sprintf(`{"type":"notify","payload":{"n":1},"target":{"url":%q}}`, r.URL+"/hook"))
	c.call(t, "PUT", "/v1/schedules/often", `{"every":"5s","type":"echo","payload":{}}`, nil)

	for deadline := time.Now().Add(patience); ; {
		for id, what := range wanted {
			var now job
			c.call(t, "GET", "/v1/jobs/"+id+"?wait=2s", "", &now)
			if now.Status == "done" {
				delete(wanted, id)
			} else if now.Status == "failed" || time.Now().After(deadline) {
				t.Fatalf("%s: %+v", what, now)
			}
		}
		var list struct{ Items []job }
		c.call(t, "GET", "/v1/jobs?schedule=often&status=done", "", &list)
		if len(wanted) == 0 && len(list.Items) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("not done: %v; %d runs of the schedule", wanted, len(list.Items))
		}
	}
	c.call(t, "DELETE", "/v1/schedules/often", "", nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.verified != 1 {
		t.Errorf("%d deliveries", r.verified)
	}
}

// playSchedule invokes the tick, again when it has ended, as the schedule does each minute.
func (c *cloud) playSchedule(ctx context.Context, t *testing.T, name string) {
	if role, tick := deploymentName+"-schedule", "arn:aws:lambda:"+region+":"+account+":function:"+name; !c.may(role, "lambda:InvokeFunction", tick) {
		t.Errorf("%s may not invoke %s", role, tick)
	}
	for ctx.Err() == nil {
		// The emulator cannot cope with a caller that gives up, so each invocation runs to its end, which is soon once nothing is due.
		if said, err := c.invoke(context.WithoutCancel(ctx), name, []byte(`{}`)); err != nil && ctx.Err() == nil {
			t.Errorf("tick: %v", err)
			return
		} else if strings.Contains(string(said), "errorMessage") {
			t.Errorf("tick: %s", said)
			return
		}
	}
}

// playMapping gives messages to a worker in batches, and deletes what the worker does not keep, with the rights of a role: a mapping
// has those of its function.
func (c *cloud) playMapping(ctx context.Context, t *testing.T, queue, worker, role string) {
	client := sqs.New(sqs.Options{Region: region, BaseEndpoint: &c.url, Credentials: credentials.NewStaticCredentialsProvider(roleKey+role, "test", "")})
	for ctx.Err() == nil {
		got, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &queue, MaxNumberOfMessages: 10, WaitTimeSeconds: 1})
		if err != nil {
			if ctx.Err() == nil {
				t.Logf("receive from %s: %v", queue, err)
			}
			continue
		}
		if len(got.Messages) == 0 {
			continue
		}
		var event events.SQSEvent
		for _, m := range got.Messages {
			event.Records = append(event.Records, events.SQSMessage{
				MessageId: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body, EventSource: "aws:sqs", AWSRegion: region,
			})
		}
		said, err := c.invoke(context.WithoutCancel(ctx), worker, []byte(text(t, event)))
		if err != nil {
			if ctx.Err() == nil {
				t.Errorf("%s: %v", worker, err)
			}
			return
		}
		var answer events.SQSEventResponse
		if err := json.Unmarshal(said, &answer); err != nil || strings.Contains(string(said), "errorMessage") {
			t.Errorf("%s: %s", worker, said)
			return
		}
		for _, m := range got.Messages {
			kept := slices.ContainsFunc(answer.BatchItemFailures, func(f events.SQSBatchItemFailure) bool { return f.ItemIdentifier == *m.MessageId })
			if !kept {
				_, _ = client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &queue, ReceiptHandle: m.ReceiptHandle})
			}
		}
	}
}

// text is the JSON of a value.
func text(t *testing.T, value any) string {
	t.Helper()
	said, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(said)
}
