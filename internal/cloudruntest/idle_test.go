package cloudruntest

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"

	"github.com/belfry-dev/belfry/internal/testenv"
)

// TestTickEndsIdle: a call of a tick with nothing to do ends; a job that is submitted for a few seconds later wakes the tick
// through a topic.
func TestTickEndsIdle(t *testing.T) {
	setting, store := database(t)
	issuer := NewIssuer(t)
	p := newPushes(t, issuer)
	settings := slices.Concat(callerSettings(issuer.Serve(t)), []string{setting, "BELFRY_TOKENS=" + apiToken, "BELFRY_TICK_IDLE=1m", "BELFRY_TICK_SLEEP=10m"}, p.settings)
	tick := start(t, "tick", settings...)
	for range 2 { // the second does not ask the database
		if status, err := tick.post(t.Context(), "/tick", issuer.Token(t, nil), nil); err != nil || status != 204 {
			t.Fatalf("the tick answers %d, %v", status, err)
		}
	}
	pushed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // as Pub/Sub pushes, with a token
		body := make([]byte, 4096)
		n, _ := r.Body.Read(body)
		status, err := tick.post(r.Context(), "/tick", issuer.Token(t, nil), body[:n])
		if err != nil {
			status = http.StatusBadGateway
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(pushed.Close)
	name := "wake" + strings.ToLower(rand.Text())
	topic, subscription := "projects/"+project+"/topics/"+name, "projects/"+project+"/subscriptions/"+name
	p.create(t, topic, &pubsubpb.Subscription{Name: subscription, Topic: topic, AckDeadlineSeconds: 180, PushConfig: &pubsubpb.PushConfig{PushEndpoint: pushed.URL}})
	t.Cleanup(func() {
		_ = p.client.SubscriptionAdminClient.DeleteSubscription(t.Context(), &pubsubpb.DeleteSubscriptionRequest{Subscription: subscription})
	})
	settings = append(settings, "BELFRY_TICK_WAKE=gcppubsubv2://"+topic+"?emulator="+testenv.PubSub(t))
	p.to(start(t, "worker", settings...))
	status, body := ask(t, start(t, "api", settings...), "POST", "/v1/jobs", apiToken, `{"type":"echo","delay":"2s"}`)
	if status != 201 {
		t.Fatal(status, body)
	}
	once(t, store, []int64{1})
}

// TestTickAsksOnce: a warm tick with nothing to do makes one transaction, on the connection that it has, and records the state
// all the same.
func TestTickAsksOnce(t *testing.T) {
	setting, _, proxy := countedDatabase(t)
	issuer := NewIssuer(t)
	p := newPushes(t, issuer)
	tick := start(t, "tick", slices.Concat(callerSettings(issuer.Serve(t)), []string{setting, "BELFRY_LOG_LEVEL=info", "BELFRY_LOG_FORMAT=json", "BELFRY_TICK_IDLE=1m"}, p.settings)...)
	for n := range 4 {
		if status, err := tick.post(t.Context(), "/tick", issuer.Token(t, nil), nil); err != nil || status != 204 {
			t.Fatalf("the tick answers %d, %v", status, err)
		}
		if asked, connections := proxy.Transactions.Swap(0), proxy.Connections.Swap(0); n > 0 && (asked != 1 || connections != 0) {
			t.Errorf("a warm tick makes %d transactions and %d new connections", asked, connections)
		}
	}
	await(t, "each call records the state", func() bool { return strings.Count(tick.log.String(), `"message":"state"`) == 4 })
}
