package webhooktest

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"gocloud.dev/pubsub"
	_ "gocloud.dev/pubsub/mempubsub"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/boot"
	"github.com/belfry-dev/belfry/functions/host/node"
)

// TestAlertsArrive: a schedule whose runs fail raises an alert, which comes as a signed POST and as a message on the topic;
// once a run succeeds both are told that it is over.
func TestAlertsArrive(t *testing.T) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) { alertsArrive(t, l) })
	}
}

func alertsArrive(t *testing.T, l layout) {
	r := receive(t, status(http.StatusOK))
	topic := "mem://" + strings.ToLower(strings.Map(func(r rune) rune {
		if r < 'A' || r > 'z' {
			return -1
		}
		return r
	}, t.Name()))
	var mended atomic.Bool
	s := start(t, l, func(p *node.Parts) {
		p.Settings.AlertURL, p.Settings.AlertTopicURL = r.URL+"/alerts", topic
		p.Handlers = core.Handlers{"work": core.HandlerFunc(func(context.Context, *core.Job) (json.RawMessage, error) {
			if mended.Load() {
				return nil, nil
			}
			return nil, core.Permanent(http.ErrAbortHandler)
		})}
	})
	told, err := pubsub.OpenSubscription(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := told.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	s.must(http.StatusCreated, "PUT", "/v1/schedules/nightly", `{"every":"1s","type":"work","expect_within":"1s"}`, nil)
	posted, message := nextAlert(t, r), nextMessage(t, told)
	for _, e := range []boot.AlertEvent{posted, message} {
		if e.Event != boot.AlertRaised || e.Kind != core.AlertScheduleMissed || e.Subject != "nightly" || e.RaisedAt.IsZero() || !e.ClearedAt.IsZero() || !strings.Contains(e.Detail, "within 1s") {
			t.Errorf("%+v", e)
		}
	}
	mended.Store(true)
	over, overMessage := nextAlert(t, r), nextMessage(t, told)
	for _, e := range []boot.AlertEvent{over, overMessage} {
		if e.Event != boot.AlertCleared || e.ID != posted.ID || e.ID != message.ID || e.ClearedAt.Before(e.RaisedAt) || e.Subject != "nightly" {
			t.Errorf("%+v", e)
		}
	}
}

// nextAlert is the next alert about a schedule that a receiver verified: a retry after a lost answer is the one before.
func nextAlert(t *testing.T, r *receiver) (e boot.AlertEvent) {
	t.Helper()
	for e.Kind != core.AlertScheduleMissed {
		d := r.next()
		if err := json.Unmarshal([]byte(d.body), &e); err != nil || d.header.Get("Webhook-Id") == "" {
			t.Fatalf("%s: %v", d.body, err)
		}
		if d.attempt != "1" {
			e = boot.AlertEvent{}
		}
	}
	return e
}

// nextMessage is the next alert about a schedule on a topic.
func nextMessage(t *testing.T, told *pubsub.Subscription) (e boot.AlertEvent) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for e.Kind != core.AlertScheduleMissed {
		m, err := told.Receive(ctx)
		if err != nil {
			t.Fatal(err)
		}
		m.Ack()
		if err := json.Unmarshal(m.Body, &e); err != nil || m.Metadata["kind"] != e.Kind || m.Metadata["event"] != e.Event {
			t.Fatalf("%s %v: %v", m.Body, m.Metadata, err)
		}
	}
	return e
}
