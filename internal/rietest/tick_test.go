package rietest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

// queues makes a queue per priority and returns the settings that name them, and the URL of the default one.
func queues(t *testing.T) (client *sqs.Client, defaultQueue string, settings []string) {
	t.Helper()
	endpoint := testenv.SQS(t)
	client = sqs.New(sqs.Options{Region: "eu-west-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	for _, p := range core.Priorities {
		name := fmt.Sprintf("rie-%d-%s", time.Now().UnixNano(), p)
		made, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
		if err != nil {
			t.Fatal(err)
		}
		if p == core.Default {
			defaultQueue = *made.QueueUrl
		}
		settings = append(settings, fmt.Sprintf("BELFRY_QUEUE_%s_URL=awssqs://127.0.0.1/123456789012/%s?region=eu-west-1&endpoint=%s", strings.ToUpper(p.String()), name, url.QueryEscape(endpoint)))
	}
	return client, defaultQueue, settings
}

func submit(t *testing.T, store *postgres.Store, n int) (ids []int64) {
	t.Helper()
	jobs := make([]core.NewJob, n)
	for i := range jobs {
		jobs[i] = core.NewJob{Type: "echo", Payload: json.RawMessage(fmt.Sprint(i)), MaxAttempts: 5, Priority: core.Default}
	}
	answers, err := store.Submit(t.Context(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		ids = append(ids, a.ID)
	}
	return ids
}

// work gives messages of the queue to a worker until all jobs are done, and counts how often each was published.
func work(t *testing.T, store *postgres.Store, f *function, client *sqs.Client, queue string, ids []int64) map[int64]int {
	t.Helper()
	published := map[int64]int{}
	for deadline := time.Now().Add(patience); ; {
		got, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &queue, MaxNumberOfMessages: 10, WaitTimeSeconds: 1, VisibilityTimeout: 3600})
		if err != nil {
			t.Fatal(err)
		}
		bodies := map[string]string{}
		for _, m := range got.Messages {
			bodies[sdk.ToString(m.MessageId)] = sdk.ToString(m.Body)
			read, err := core.DecodeMessage([]byte(sdk.ToString(m.Body)))
			if err != nil {
				t.Fatal(err)
			}
			published[read.ID]++
		}
		if len(bodies) > 0 {
			if said := string(f.invoke(t, eventOf(t, bodies))); said != `{"batchItemFailures":[]}` {
				t.Errorf("the worker keeps %s", said)
			}
		}
		ended, err := store.Ended(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		if len(ended) == len(ids) {
			return published
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d jobs ended", len(ended), len(ids))
		}
	}
}

// once asserts that each job was done in its first attempt.
func once(t *testing.T, store *postgres.Store, ids []int64) {
	t.Helper()
	for _, id := range ids {
		if job, err := store.Get(t.Context(), id); err != nil || job.Status != core.Done || job.Attempts != 1 {
			t.Errorf("job %d: %s after %d attempts, %v", id, job.Status, job.Attempts, err)
		}
	}
}

// TestTickTwiceAtOnce: two invocations overlap; each job is published, and runs, once.
func TestTickTwiceAtOnce(t *testing.T) {
	address, store := database(t)
	client, queue, env := queues(t)
	env = append(env, "BELFRY_DATABASE_URL="+address)
	var event map[string]any
	document(t, "schedule.json", &event)
	ids := submit(t, store, 40)
	var both sync.WaitGroup
	for range 2 {
		f := start(t, "tick", 8, env...)
		both.Go(func() {
			if said, err := f.tryInvoke(t.Context(), event); err != nil || string(said) != "null" {
				t.Errorf("the tick answers %s, %v", said, err)
			}
		})
	}
	both.Wait()
	published := work(t, store, start(t, "worker", 30, "BELFRY_DATABASE_URL="+address), client, queue, ids)
	once(t, store, ids)
	for id, n := range published {
		if n > 2 {
			t.Errorf("job %d was published %d times", id, n)
		}
	}
}

// TestTickKilled: the power goes while a tick is at it; the next one finds all that was not published.
func TestTickKilled(t *testing.T) {
	address, store := database(t)
	client, queue, env := queues(t)
	env = append(env, "BELFRY_DATABASE_URL="+address)
	var event map[string]any
	document(t, "schedule.json", &event)
	first := start(t, "tick", 60, env...)
	over := make(chan struct{})
	go func() { defer close(over); _, _ = first.tryInvoke(t.Context(), event) }()
	ids := submit(t, store, 60)
	await(t, "jobs are queued", func() bool {
		for _, id := range ids {
			if job, err := store.Get(t.Context(), id); err == nil && job.Status == core.Queued {
				return true
			}
		}
		return false
	})
	first.kill()
	<-over
	ids = append(ids, submit(t, store, 20)...)
	second := start(t, "tick", 40, env...)
	over = make(chan struct{})
	go func() { defer close(over); _, _ = second.tryInvoke(t.Context(), event) }()
	work(t, store, start(t, "worker", 30, "BELFRY_DATABASE_URL="+address), client, queue, ids)
	once(t, store, ids)
	second.kill()
	<-over
}

// TestTickEconomy: one invocation does what there is to do and ends long before its deadline.
func TestTickEconomy(t *testing.T) {
	address, store := database(t)
	client, queue, env := queues(t)
	f := start(t, "tick", 600, append(env, "BELFRY_DATABASE_URL="+address, "BELFRY_ECONOMY=true")...)
	var event map[string]any
	document(t, "schedule.json", &event)
	worker := start(t, "worker", 30, "BELFRY_DATABASE_URL="+address)
	for range 2 { // the environment is used again
		ids := submit(t, store, 25)
		if said := string(f.invoke(t, event)); said != "null" {
			t.Fatalf("the tick answers %s", said)
		}
		work(t, store, worker, client, queue, ids)
		once(t, store, ids)
	}
}

// await polls until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}
