package cloudruntest

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pubsub "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/internal/testenv"
)

const project = "cloudruntest"

// pushes are topics with push subscriptions, whose requests get a token on their way to a worker: the emulator signs none.
type pushes struct {
	settings []string // that name the topics
	client   *pubsub.Client
	topic    string // of the default priority

	mu        sync.Mutex
	worker    *function
	published map[int64]int // by job: messages that are not mere redeliveries
	seen      map[string]bool
	answers   map[int]int   // by status
	took      time.Duration // all requests to the worker together
}

// newPushes makes them on the emulator. Until there is a worker all requests are sent away.
func newPushes(t *testing.T, issuer *Issuer) *pushes {
	t.Helper()
	address := testenv.PubSub(t)
	p := &pushes{published: map[int64]int{}, seen: map[string]bool{}, answers: map[int]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status := http.StatusServiceUnavailable
		if body, err := io.ReadAll(r.Body); err == nil {
			status = p.carry(r, body, issuer.Token(t, nil))
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	client, err := pubsub.NewClient(t.Context(), project, option.WithEndpoint(address), option.WithoutAuthentication(),
		option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials())))
	if err != nil {
		t.Fatal(err)
	}
	p.client = client
	prefix := "r" + strings.ToLower(rand.Text())
	for _, priority := range core.Priorities {
		name := prefix + "-" + priority.String()
		topic, subscription := "projects/"+project+"/topics/"+name, "projects/"+project+"/subscriptions/"+name
		made := &pubsubpb.Subscription{
			Name: subscription, Topic: topic, AckDeadlineSeconds: 60, PushConfig: &pubsubpb.PushConfig{PushEndpoint: server.URL + "/push"},
			RetryPolicy: &pubsubpb.RetryPolicy{MinimumBackoff: durationpb.New(100 * time.Millisecond), MaximumBackoff: durationpb.New(time.Second)},
		}
		if priority == core.Default {
			p.topic = topic
			p.create(t, topic+"-dead", &pubsubpb.Subscription{Name: subscription + "-dead", Topic: topic + "-dead", AckDeadlineSeconds: 600})
			made.DeadLetterPolicy = &pubsubpb.DeadLetterPolicy{DeadLetterTopic: topic + "-dead", MaxDeliveryAttempts: 5}
		}
		p.create(t, topic, made)
		t.Cleanup(func() { // else the emulator pushes for ever
			_ = client.SubscriptionAdminClient.DeleteSubscription(t.Context(), &pubsubpb.DeleteSubscriptionRequest{Subscription: subscription})
		})
		p.settings = append(p.settings, fmt.Sprintf("BELFRY_QUEUE_%s_URL=gcppubsubv2://%s?emulator=%s", strings.ToUpper(priority.String()), topic, address))
	}
	return p
}

func (p *pushes) create(t *testing.T, topic string, subscription *pubsubpb.Subscription) {
	t.Helper()
	if _, err := p.client.TopicAdminClient.CreateTopic(t.Context(), &pubsubpb.Topic{Name: topic}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.client.SubscriptionAdminClient.CreateSubscription(t.Context(), subscription); err != nil {
		t.Fatal(err)
	}
}

// carry notes what is pushed and hands it to the worker.
func (p *pushes) carry(r *http.Request, body []byte, token string) int {
	var envelope struct {
		Message struct {
			Data []byte `json:"data"`
			ID   string `json:"messageId"`
		} `json:"message"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return http.StatusInternalServerError
	}
	p.mu.Lock()
	worker := p.worker
	if m, err := core.DecodeMessage(envelope.Message.Data); err == nil && !p.seen[envelope.Message.ID] {
		p.seen[envelope.Message.ID] = true
		p.published[m.ID]++
	}
	p.mu.Unlock()
	if worker == nil {
		return http.StatusServiceUnavailable
	}
	began := time.Now()
	status, err := worker.post(r.Context(), "/push", token, bytes.TrimSpace(body))
	if err != nil {
		status = http.StatusBadGateway
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[status]++
	p.took += time.Since(began)
	return status
}

func (p *pushes) to(worker *function) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.worker = worker
}

// most is how often the job that was published most often was.
func (p *pushes) most() (most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.published {
		most = max(most, n)
	}
	return most
}

func submit(t *testing.T, store *postgres.Store, n int) (ids []int64) {
	t.Helper()
	jobs := make([]core.NewJob, n)
	for i := range jobs {
		jobs[i] = core.NewJob{Type: "echo", Payload: json.RawMessage(fmt.Sprint(i)), MaxAttempts: 5, Priority: core.Priorities[i%3]}
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

// once waits until all jobs are done and asserts that each was in its first attempt.
func once(t *testing.T, store *postgres.Store, ids []int64) {
	t.Helper()
	await(t, "all jobs have ended", func() bool {
		done, err := store.Ended(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		return len(done) == len(ids)
	})
	for _, id := range ids {
		ended(t, store, id, core.Done, 1)
	}
}

// TestFromTickToPush: the tick publishes to Pub/Sub, which pushes to the worker; damaged messages come again, and what
// comes after them runs all the same.
func TestFromTickToPush(t *testing.T) {
	setting, store := database(t)
	issuer := NewIssuer(t)
	p := newPushes(t, issuer)
	settings := slices.Concat(callerSettings(issuer.Serve(t)), []string{setting, "BELFRY_ECONOMY=true"}, p.settings)
	p.to(start(t, "worker", settings...))
	tick := start(t, "tick", settings...)
	ids := submit(t, store, 30)
	if _, err := p.client.TopicAdminClient.Publish(t.Context(), &pubsubpb.PublishRequest{Topic: p.topic, Messages: []*pubsubpb.PubsubMessage{
		{Data: []byte(`{"v":99,"id":"1"}`)}, {Data: []byte("\xff\x00")}, {Data: []byte("not ours")},
	}}); err != nil {
		t.Fatal(err)
	}
	await(t, "a tick has done all there was to do", func() bool {
		got, err := tick.post(t.Context(), "/tick", issuer.Token(t, nil), []byte(`{"scheduled":"whenever"}`))
		if err != nil {
			t.Fatal(err)
		}
		return got == 204 // on a slow machine the emulator may take longer than a pass: the next one publishes again
	})
	once(t, store, ids)
	if p.most() > 2 {
		t.Errorf("a job was published %d times", p.most())
	}
	// What the emulator does with a message that was refused five times it does not always do soon: not asserted here.
	await(t, "damaged messages come again", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.answers[400] >= 3*2 // it may stop short of the third time too
	})
	later := submit(t, store, 3)
	await(t, "a tick has done all there was to do", func() bool {
		got, err := tick.post(t.Context(), "/tick", issuer.Token(t, nil), nil)
		if err != nil {
			t.Fatal(err)
		}
		return got == 204
	})
	once(t, store, later)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.answers[204] < 33 || len(p.answers) != 2 {
		t.Errorf("answers %v, want 204, and 400 for damaged messages", p.answers)
	}
}

// TestAPIPublishes: a job that is due runs without any tick.
func TestAPIPublishes(t *testing.T) {
	setting, store := database(t)
	issuer := NewIssuer(t)
	p := newPushes(t, issuer)
	settings := slices.Concat(callerSettings(issuer.Serve(t)), []string{setting, "BELFRY_TOKENS=" + apiToken}, p.settings)
	p.to(start(t, "worker", settings...))
	status, body := ask(t, start(t, "api", settings...), "POST", "/v1/jobs", apiToken, `{"type":"echo","priority":"critical"}`)
	if status != 201 {
		t.Fatal(status, body)
	}
	once(t, store, []int64{1})
}

// TestTickTwiceAtOnce: calls overlap, in one container and in two; each job is published, and runs, once.
func TestTickTwiceAtOnce(t *testing.T) {
	setting, store := database(t)
	issuer := NewIssuer(t)
	p := newPushes(t, issuer)
	settings := slices.Concat(callerSettings(issuer.Serve(t)), []string{setting, "BELFRY_TICK_TIME=8s"}, p.settings)
	p.to(start(t, "worker", settings...))
	ids := submit(t, store, 60)
	var calls sync.WaitGroup
	for range 2 {
		tick := start(t, "tick", settings...)
		for range 2 {
			calls.Go(func() {
				if got, err := tick.post(t.Context(), "/tick", issuer.Token(t, nil), nil); err != nil || got != 204 {
					t.Errorf("the tick answers %d, %v", got, err)
				}
			})
		}
	}
	ids = append(ids, submit(t, store, 30)...)
	calls.Wait()
	once(t, store, ids)
	if p.most() > 2 { // where one took over from another
		t.Errorf("a job was published %d times", p.most())
	}
}

// TestTickKilled: the power goes while a tick is at it; the next one finds all that was not published.
func TestTickKilled(t *testing.T) {
	setting, store := database(t)
	issuer := NewIssuer(t)
	p := newPushes(t, issuer)
	settings := slices.Concat(callerSettings(issuer.Serve(t)), []string{setting, "BELFRY_TICK_TIME=30m"}, p.settings)
	first := start(t, "tick", settings...)
	over := make(chan error, 1)
	go func() {
		_, err := first.post(t.Context(), "/tick", issuer.Token(t, nil), nil)
		over <- err
	}()
	ids := submit(t, store, 60)
	await(t, "jobs are queued", func() bool {
		return slices.ContainsFunc(ids, func(id int64) bool {
			job, err := store.Get(t.Context(), id)
			return err == nil && job.Status == core.Queued
		})
	})
	first.kill()
	if err := <-over; err == nil {
		t.Error("the killed tick answered")
	}
	ids = append(ids, submit(t, store, 20)...)
	p.to(start(t, "worker", settings...))
	second := start(t, "tick", settings...)
	go func() {
		status, err := second.post(t.Context(), "/tick", issuer.Token(t, nil), nil)
		over <- errors.Join(err, statusError(status))
	}()
	once(t, store, ids)

	// Told to end, the tick gives its leases up and answers: the next one need not wait for them.
	second.terminate(t)
	if err := <-over; err != nil {
		t.Error(err)
	}
	if err := second.wait(t); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func statusError(status int) error {
	if status != 204 {
		return fmt.Errorf("answered %d", status)
	}
	return nil
}

// TestTickTokens: who may call the tick is told as at the worker.
func TestTickTokens(t *testing.T) {
	for kind, run := range kinds {
		t.Run(kind, func(t *testing.T) {
			setting, store := database(t)
			issuer := NewIssuer(t)
			f := run(t, "tick", append(callerSettings(issuer.Serve(t)), setting, "BELFRY_ECONOMY=true")...)
			for token, want := range map[string]int{
				"": 401, issuer.Token(t, map[string]any{"aud": "x"}): 401, issuer.Token(t, map[string]any{"email": "x@y"}): 403, issuer.Token(t, nil): 204,
			} {
				if got, err := f.post(t.Context(), "/tick", token, nil); err != nil || got != want {
					t.Errorf("%d, want %d, %v", got, want, err)
				}
			}
			if status, _ := ask(t, f, "GET", "/tick", issuer.Token(t, nil), ""); status != http.StatusMethodNotAllowed {
				t.Errorf("GET: %d", status)
			}

			// A pass was made: a job whose time is over is expired by one.
			late, err := store.Submit(t.Context(), []core.NewJob{{Type: "echo", MaxAttempts: 1, Priority: core.Default, Delay: time.Hour, ExpiresAt: time.Now().Add(time.Second)}})
			if err != nil {
				t.Fatal(err)
			}
			await(t, "the tick looks", func() bool {
				if got, err := f.post(t.Context(), "/tick", issuer.Token(t, nil), nil); err != nil || got != 204 {
					t.Fatal(got, err)
				}
				job, err := store.Get(t.Context(), late[0].ID)
				return err == nil && job.Status == core.Cancelled
			})
		})
	}
}
