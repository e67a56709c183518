package localstack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	token    = "a-token-of-the-tests-only"
	patience = 3 * time.Minute // of a loaded machine
)

// TestShapeOfAWS: jobs of every priority go from the Function URL through tick, queue and worker; a message that no worker
// can read ends in the dead letters; with an environment of tick and worker killed jobs still run.
func TestShapeOfAWS(t *testing.T) {
	p := up(t)
	client := sqs.New(sqs.Options{Region: "eu-west-1", BaseEndpoint: &p.sqs, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	checkQueues(t, client)
	damaged := "https://localhost/000000000000/belfry-default"
	if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &damaged, MessageBody: aws.String(`{"v":1,"id":`)}); err != nil {
		t.Fatal(err)
	}
	for _, priority := range []string{"critical", "default", "bulk"} {
		p.runJob(t, fmt.Sprintf(`{"type":"echo","payload":{"naïve":"✓"},"delay":"1s","priority":%q}`, priority))
	}
	p.runJob(t, `{"type":"fail","payload":{"times":1},"backoff":["1s"]}`)
	dead := damaged + "-dead"
	eventually(t, "the damaged message is in the dead letters", func() bool {
		got, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &dead, WaitTimeSeconds: 2})
		return err == nil && len(got.Messages) == 1 && aws.ToString(got.Messages[0].Body) == `{"v":1,"id":`
	})
	p.killOne(t, "tick")
	p.killOne(t, "worker")
	begun := time.Now()
	for range 8 { // some are for the environment that is gone
		p.runJob(t, `{"type":"echo","payload":1,"delay":"1s"}`)
	}
	t.Logf("8 jobs after a tick and a worker were killed: %.0f s", time.Since(begun).Seconds())
}

// checkQueues holds the queues against what deployments make.
func checkQueues(t *testing.T, client *sqs.Client) {
	t.Helper()
	var names []string
	all, err := client.ListQueues(t.Context(), &sqs.ListQueuesInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range all.QueueUrls {
		names = append(names, url[strings.LastIndexByte(url, '/')+1:])
	}
	slices.Sort(names)
	want := []string{"belfry-bulk", "belfry-bulk-dead", "belfry-critical", "belfry-critical-dead", "belfry-default", "belfry-default-dead"}
	if !slices.Equal(names, want) {
		t.Fatalf("queues %v, want %v", names, want)
	}
	for _, name := range want {
		if strings.HasSuffix(name, "-dead") {
			continue
		}
		url := "https://localhost/000000000000/" + name
		said, err := client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{"All"}})
		if err != nil {
			t.Fatal(err)
		}
		if redrive := said.Attributes["RedrivePolicy"]; !strings.Contains(redrive, ":"+name+"-dead\"") || !strings.Contains(strings.ReplaceAll(redrive, `"`, ""), "maxReceiveCount: 5") {
			t.Errorf("%s: redrive policy %s", name, redrive)
		}
	}
}

// runJob submits a job and waits until it is done.
func (p *project) runJob(t *testing.T, job string) {
	t.Helper()
	var submitted struct{ ID string }
	eventually(t, "a job is accepted", func() bool {
		status, err := p.call(t, http.MethodPost, "/jobs", job, &submitted)
		return err == nil && status == http.StatusCreated
	})
	var now struct {
		Status   string
		Attempts int
	}
	eventually(t, "job "+submitted.ID+" is done", func() bool {
		status, err := p.call(t, http.MethodGet, "/jobs/"+submitted.ID+"?wait=5s", "", &now)
		return err == nil && status == http.StatusOK && now.Status == "done"
	})
}

func (p *project) call(t *testing.T, method, path, body string, into any) (status int, err error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.api+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	return res.StatusCode, json.NewDecoder(res.Body).Decode(into)
}

// eventually asks until it is so.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !so(); {
		if time.Now().After(deadline) {
			t.Fatalf("not so after %s: %s", patience, what)
		}
		<-time.After(200 * time.Millisecond)
	}
}
