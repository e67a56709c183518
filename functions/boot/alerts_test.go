package boot

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gocloud.dev/pubsub"
	_ "gocloud.dev/pubsub/mempubsub"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/adapters/webhook"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/schedule"
	"github.com/belfry-dev/belfry/core/tick"
)

func openStore(t *testing.T, offset *atomic.Int64) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "belfry.db"), sqlite.Options{Offset: offset, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func guardOf(t *testing.T, allow ...string) *webhook.Guard {
	t.Helper()
	guard, err := webhook.NewGuard(webhook.GuardOptions{Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	return guard
}

// webhooksOf are the parts of a process that alerts need; the guard may be nil.
func webhooksOf(t *testing.T, store *sqlite.Store, guard *webhook.Guard) *Webhooks {
	t.Helper()
	names, err := core.NewInstallations(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	return &Webhooks{Guard: guard, Names: names}
}

// A schedule that is overdue is told of once, on the topic and to the webhook, and once more when it has recovered.
func TestAlertsAreTold(t *testing.T) {
	offset := new(atomic.Int64)
	store := openStore(t, offset)
	alerts, err := OpenAlerts(t.Context(), Settings{AlertURL: "http://127.0.0.1:9/alerts?k=1", AlertTopicURL: "mem://told"}, webhooksOf(t, store, guardOf(t, "127.0.0.1")), store)
	if err != nil {
		t.Fatal(err)
	}
	told, err := pubsub.OpenSubscription(t.Context(), "mem://told")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := alerts.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := told.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	ticker, err := tick.New(store, tick.Options{Holder: "t", OnAlerts: alerts.Publish})
	if err != nil {
		t.Fatal(err)
	}
	acts := schedule.NewActs(store, schedule.Options{}, nil)
	if _, _, err := acts.Put(t.Context(), "acme", "nightly", core.ScheduleRule{Every: core.ScheduleLength(time.Hour), Type: "work", ExpectWithin: core.ScheduleLength(time.Minute)}, schedule.Match{}); err != nil {
		t.Fatal(err)
	}
	pass := func(d time.Duration) {
		t.Helper()
		for _, after := range []time.Duration{d, time.Second, time.Second} { // what one pass raises the next one tells
			offset.Add(after.Microseconds())
			if _, err := ticker.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	next := func() (e AlertEvent) {
		t.Helper()
		m, err := told.Receive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m.Ack()
		if err := json.Unmarshal(m.Body, &e); err != nil || m.Metadata["event"] != e.Event || m.Metadata["kind"] != e.Kind {
			t.Fatalf("%s %v %v", m.Body, m.Metadata, err)
		}
		return e
	}
	pass(time.Hour + time.Second)
	pass(2 * time.Minute)
	raised := next()
	if !regexp.MustCompile(`^alert_[a-z0-9]{16}_[0-9]+$`).MatchString(raised.ID) {
		t.Errorf("id %s", raised.ID)
	}
	if raised.Event != AlertRaised || raised.Kind != core.AlertScheduleMissed || raised.Subject != "nightly" || raised.Tenant != "acme" || !raised.ClearedAt.IsZero() || raised.RaisedAt.IsZero() {
		t.Errorf("%+v", raised)
	}
	res, err := store.ClaimDue(t.Context(), core.ClaimRequest{WorkerID: "w", ClaimID: 1, Lease: time.Hour, Quotas: []core.Quota{{Priority: core.Default, Type: "work", Limit: 1}}})
	if err != nil || len(res.Jobs) != 1 {
		t.Fatal(res, err)
	}
	if _, err := store.Finish(t.Context(), []core.End{{Ref: core.Ref{ID: res.Jobs[0].ID, Token: res.Jobs[0].LeaseToken}, Outcome: core.EndDone}}); err != nil {
		t.Fatal(err)
	}
	pass(5 * time.Minute)
	if cleared := next(); cleared.Event != AlertCleared || cleared.ID != raised.ID || cleared.ClearedAt.IsZero() {
		t.Errorf("%+v", cleared)
	}
	page, err := store.List(t.Context(), core.ListQuery{Type: core.AlertType, Limit: 10})
	if err != nil || len(page.Jobs) != 2 {
		t.Fatalf("%d jobs, %v", len(page.Jobs), err)
	}
	first := page.Jobs[1]
	var e AlertEvent
	if err := json.Unmarshal(first.Payload, &e); err != nil || e != raised || first.Priority != core.Critical || string(first.Target) != `{"url":"http://127.0.0.1:9/alerts?k=1"}` {
		t.Errorf("%+v %v", first, err)
	}
	types, err := store.Types(t.Context())
	if err != nil || len(types) != 1 || types[0].Name != core.AlertType || !types[0].Delivered {
		t.Errorf("no worker would deliver it: %+v %v", types, err)
	}
}

// Told again, as after a lost answer, an alert makes no second job while the first is live.
func TestAlertsToldAgain(t *testing.T) {
	store := openStore(t, nil)
	alerts, err := OpenAlerts(t.Context(), Settings{AlertURL: "https://alerts.example.com/"}, webhooksOf(t, store, guardOf(t, "*.example.com")), store)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	list := []core.Alert{{ID: 1, Kind: core.AlertDropped, Subject: "a", RaisedAt: now, ClearedAt: now}, {ID: 2, Kind: core.AlertScheduleMissed, Subject: "b", RaisedAt: now, ClearedAt: now.Add(time.Minute)}}
	for range 3 {
		if err := alerts.Publish(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	page, err := store.List(t.Context(), core.ListQuery{Limit: 10})
	if err != nil || len(page.Jobs) != 2 || !strings.Contains(string(page.Jobs[1].Payload), `"event":"raised"`) || !strings.Contains(string(page.Jobs[0].Payload), `"event":"cleared"`) {
		t.Errorf("%+v %v", page, err)
	}
}

func TestAlertsAreRefusedAtStart(t *testing.T) {
	store := openStore(t, nil)
	for name, c := range map[string]struct {
		s     Settings
		guard *webhook.Guard
		says  string
	}{
		"no secrets":    {Settings{AlertURL: "https://alerts.example.com/"}, nil, "BELFRY_WEBHOOK_SECRETS"},
		"metadata":      {Settings{AlertURL: "http://169.254.169.254/canary"}, guardOf(t), "BELFRY_ALERT_URL"},
		"loopback":      {Settings{AlertURL: "http://127.0.0.1/canary"}, guardOf(t), "BELFRY_ALERT_URL"},
		"not linked":    {Settings{AlertTopicURL: "nosuch://u:canary@h/x"}, nil, `"nosuch"`},
		"no such topic": {Settings{AlertTopicURL: "awssns:///canary"}, nil, "BELFRY_ALERT_TOPIC_URL"},
	} {
		if a, err := OpenAlerts(t.Context(), c.s, webhooksOf(t, store, c.guard), store); err == nil || a != nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if a, err := OpenAlerts(t.Context(), Settings{}, webhooksOf(t, store, nil), store); a != nil || err != nil {
		t.Errorf("nothing set: %v %v", a, err)
	}
}

// That jobs which deliver alerts fail is not told by more of them.
func TestAlertsAboutTheirOwnDelivery(t *testing.T) {
	store := openStore(t, nil)
	alerts, err := OpenAlerts(t.Context(), Settings{AlertURL: "https://alerts.example.com/"}, webhooksOf(t, store, guardOf(t, "*.example.com")), store)
	if err != nil {
		t.Fatal(err)
	}
	list := []core.Alert{
		{ID: 1, Kind: core.AlertJobFailed, Subject: core.AlertType + "/0123456789abcdef", Count: 2, RaisedAt: time.Now()},
		{ID: 2, Kind: core.AlertJobFailed, Subject: "mail/0123456789abcdef", Count: 3, RaisedAt: time.Now()},
	}
	if err := alerts.Publish(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	page, err := store.List(t.Context(), core.ListQuery{Limit: 10})
	if err != nil || len(page.Jobs) != 1 || !strings.Contains(string(page.Jobs[0].Payload), `_2","kind"`) || !strings.Contains(string(page.Jobs[0].Payload), `"count":3`) {
		t.Errorf("%+v %v", page, err)
	}
}
