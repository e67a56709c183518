package rietest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/counttest"
)

var countsFile = flag.String("counts", "", "file to keep what was counted in, ../../infra/cost/counts.json")

// counted runs the functions as they are billed: their log is what they write in production, and SQS is counted.
type counted struct {
	*counttest.Proxy
	database *counttest.Database
	client   *sqs.Client
	queues   map[core.Priority]string
	env      []string
}

func newCounted(t *testing.T) *counted {
	t.Helper()
	address, _ := database(t)
	client, _, settings := queues(t)
	c := &counted{database: counttest.NewDatabase(t, address), client: client, queues: map[core.Priority]string{}}
	c.Proxy = counttest.NewProxy(t, *client.Options().BaseEndpoint)
	for i, p := range core.Priorities {
		_, rest, _ := strings.Cut(settings[i], "=awssqs://127.0.0.1")
		path, _, _ := strings.Cut(rest, "?")
		c.queues[p] = *client.Options().BaseEndpoint + path
		settings[i] = fmt.Sprintf("BELFRY_QUEUE_%s_URL=awssqs://127.0.0.1%s?region=eu-west-1&endpoint=%s", strings.ToUpper(p.String()), path, url.QueryEscape(c.URL))
	}
	c.env = append(settings, "BELFRY_DATABASE_URL="+c.database.URL, "BELFRY_LOG_LEVEL=info", "BELFRY_LOG_FORMAT=json")
	return c
}

// ticks invokes the tick as the schedule does, each minute in another environment than the one before, for so many minutes.
// The invocation before those, which starts the program and may do an hour's upkeep, is not counted.
func (c *counted) ticks(t *testing.T, minutes int, env ...string) counttest.Counts {
	t.Helper()
	var event map[string]any
	document(t, "schedule.json", &event)
	environments := []*function{start(t, "tick", 110, append(c.env, env...)...)}
	if env == nil { // invocations overlap
		environments = append(environments, start(t, "tick", 110, c.env...))
	}
	var running sync.WaitGroup
	var took atomic.Int64
	var logged int
	every := time.NewTicker(time.Minute)
	defer every.Stop()
	for n := range minutes + 1 {
		if n == 1 {
			c.Take()
			c.database.Begin(t)
			for _, f := range environments {
				logged -= f.log.Len()
			}
		}
		running.Go(func() {
			began := time.Now()
			if said, err := environments[n%len(environments)].tryInvoke(t.Context(), event); err != nil || string(said) != "null" {
				t.Errorf("the tick answers %s, %v", said, err)
			}
			if n > 0 {
				took.Add(int64(time.Since(began)))
			}
		})
		<-every.C
	}
	running.Wait()
	counts := counttest.Counts{"minutes": float64(minutes), "tick.invocations": float64(minutes), "tick.seconds": time.Duration(took.Load()).Seconds()}
	c.database.Count(t, counts)
	for operation, n := range c.Take() {
		counts["sqs."+operation] = float64(n)
	}
	for _, f := range environments {
		f.kill()
		logged += f.log.Len()
	}
	counts["log.bytes"] = float64(logged)
	return counts
}

func keep(t *testing.T, run string, counts counttest.Counts) {
	t.Helper()
	text, _ := json.Marshal(counts)
	t.Logf("%s: %s", run, text)
	if *countsFile == "" {
		return
	}
	if err := counttest.Keep(*countsFile, run, counts); err != nil {
		t.Error(err)
	}
}

// TestCostIdle counts what eleven minutes cost in which nothing is due.
func TestCostIdle(t *testing.T) {
	if os.Getenv("BELFRY_TEST_LARGE") == "" {
		t.Skip("takes twelve minutes a mode; BELFRY_TEST_LARGE=1 runs it")
	}
	const minutes = 11 // of which one has a whole pass, where passes are rare
	for mode, env := range map[string][]string{"idle": {"BELFRY_TICK_IDLE=1m"}, "rest": {"BELFRY_TICK_IDLE=1m", "BELFRY_TICK_SLEEP=10m"}, "loop": nil, "economy": {"BELFRY_ECONOMY=true"}} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			c := newCounted(t)
			counts := c.ticks(t, minutes, env...)
			keep(t, "aws idle "+mode, counts)
			if sends := counts["sqs.SendMessageBatch"] + counts["sqs.SendMessage"]; sends > 0 {
				t.Errorf("%v messages were sent with nothing due", sends)
			}
		})
	}
}

// TestCostJobs counts what jobs cost from the request to the end, submitted a hundred at a time, received ten at a time.
func TestCostJobs(t *testing.T) {
	jobs := 500
	if os.Getenv("BELFRY_TEST_LARGE") != "" {
		jobs = 2_000 // moto takes longer for each message the more there are
	}
	c := newCounted(t)
	var event map[string]any
	document(t, "schedule.json", &event)
	api := start(t, "api", 30, append(c.env, "BELFRY_TOKENS="+token)...)
	tick := start(t, "tick", 600, c.env...)
	worker := start(t, "worker", 60, "BELFRY_DATABASE_URL="+c.database.URL, "BELFRY_LOG_LEVEL=info", "BELFRY_LOG_FORMAT=json")
	over := make(chan struct{})
	go func() { defer close(over); _, _ = tick.tryInvoke(t.Context(), event) }()
	c.Take()
	c.database.Begin(t)
	counts := counttest.Counts{"jobs": float64(jobs)}
	for n := 0; n < jobs; n += 100 {
		body := `{"jobs":[` + strings.TrimSuffix(strings.Repeat(`{"type":"echo"},`, 100), ",") + `]}`
		began := time.Now()
		if answer := buffered(t, api.invoke(t, request(t, "function-url.json", "POST", "/v1/jobs/batch", "", body))); answer.StatusCode != 200 {
			t.Fatalf("submit: %+v", answer)
		}
		counts["api.invocations"]++
		counts["api.seconds"] += time.Since(began).Seconds()
	}
	c.consume(t, worker, jobs, counts)
	c.database.Count(t, counts)
	for operation, n := range c.Take() {
		counts["sqs."+operation] = float64(n)
	}
	tick.kill()
	<-over
	for name, f := range map[string]*function{"api": api, "worker": worker} {
		f.kill()
		counts["log."+name+".bytes"] = float64(f.log.Len())
	}
	keep(t, "aws jobs", counts)
	sent := c.published(t) // more than the jobs where the machine was too busy to answer a Send in time
	if sends := counts["sqs.SendMessageBatch"]; sends > sent/10*1.5 || counts["sqs.SendMessage"] > 0 {
		t.Errorf("%v calls sent %v messages", sends, sent)
	}
}

// published is how often jobs were published.
func (c *counted) published(t *testing.T) (n float64) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), c.database.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if err := conn.QueryRow(t.Context(), "SELECT sum(dispatches)::float8 FROM (SELECT dispatches FROM belfry.jobs UNION ALL SELECT dispatches FROM belfry.job_history) j").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// consume does as an event source mapping: it receives ten messages at a time, invokes the worker and deletes what it has done.
func (c *counted) consume(t *testing.T, worker *function, jobs int, counts counttest.Counts) {
	t.Helper()
	queue := c.queues[core.Default]
	client := sqs.New(c.client.Options(), func(o *sqs.Options) { o.BaseEndpoint = &c.URL })
	for done, deadline := 0, time.Now().Add(5*patience); done < jobs; {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d messages came", done, jobs)
		}
		got, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &queue, MaxNumberOfMessages: 10, WaitTimeSeconds: 1, VisibilityTimeout: 3600})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Messages) == 0 {
			continue
		}
		bodies := map[string]string{}
		var deletes []types.DeleteMessageBatchRequestEntry
		for _, m := range got.Messages {
			bodies[sdk.ToString(m.MessageId)] = sdk.ToString(m.Body)
			deletes = append(deletes, types.DeleteMessageBatchRequestEntry{Id: m.MessageId, ReceiptHandle: m.ReceiptHandle})
		}
		began := time.Now()
		if said := worker.invoke(t, eventOf(t, bodies)); !bytes.Equal(said, []byte(`{"batchItemFailures":[]}`)) {
			t.Fatalf("the worker keeps %s", said)
		}
		counts["worker.invocations"]++
		counts["worker.seconds"] += time.Since(began).Seconds()
		if _, err := client.DeleteMessageBatch(t.Context(), &sqs.DeleteMessageBatchInput{QueueUrl: &queue, Entries: deletes}); err != nil {
			t.Fatal(err)
		}
		done += len(got.Messages)
	}
}
