package boot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"gocloud.dev/pubsub"

	"github.com/belfry-dev/belfry/core"
)

// Events of an alert.
const (
	AlertRaised  = "raised"
	AlertCleared = "cleared"
)

// AlertEvent is an event of an alert: the payload of the webhook's job and the body of the topic's message. An alert that
// ends at once is sent as raised with cleared_at. If it ended before it could be sent, only cleared is sent.
type AlertEvent struct {
	Event     string    `json:"event"` // raised or cleared
	ID        string    `json:"id"`    // unique among all installations; a repeated event has the same ID and Event
	Kind      string    `json:"kind"`
	Subject   string    `json:"subject"`
	Tenant    string    `json:"tenant,omitempty"`
	Detail    string    `json:"detail"`
	Count     int64     `json:"count,omitempty"` // of a job_failed: failed jobs so far
	RaisedAt  time.Time `json:"raised_at"`
	ClearedAt time.Time `json:"cleared_at,omitzero"`
}

// alertEventOf makes the event of an alert in its present state, under this id.
func alertEventOf(a *core.Alert, id string) AlertEvent {
	e := AlertEvent{
		Event: AlertRaised, ID: id, Kind: a.Kind, Subject: a.Subject, Tenant: a.Tenant, Detail: a.Detail, Count: a.Count,
		RaisedAt: a.RaisedAt.UTC(), ClearedAt: a.ClearedAt.UTC(),
	}
	switch {
	case a.ClearedAt.IsZero():
		e.ClearedAt = time.Time{}
	case a.ClearedAt.After(a.RaisedAt):
		e.Event = AlertCleared
	}
	return e
}

// AlertStore is the part of a store that Alerts uses.
type AlertStore interface {
	Submit(ctx context.Context, jobs []core.NewJob) ([]core.Submitted, error)
	MarkDelivered(ctx context.Context, names []string) error
}

// Alerts delivers alerts as the settings say: as signed jobs to a webhook, as messages on a topic.
type Alerts struct {
	store  AlertStore
	names  *core.Installations
	target json.RawMessage // nil means no webhook
	topic  *pubsub.Topic   // nil means no topic
}

// OpenAlerts checks the webhook by the rules of targets, and opens the topic. Nil without an error means that the settings
// name neither. The program decides which schemes of topics there are.
func OpenAlerts(ctx context.Context, s Settings, w *Webhooks, store AlertStore) (*Alerts, error) {
	if s.AlertURL == "" && s.AlertTopicURL == "" {
		return nil, nil
	}
	a := &Alerts{store: store, names: w.Names}
	if s.AlertURL != "" {
		target, err := json.Marshal(map[string]string{"url": s.AlertURL})
		if err != nil {
			return nil, fmt.Errorf("BELFRY_ALERT_URL: %w", err)
		}
		if w.Guard == nil {
			return nil, errors.New(alertNeedsSecrets)
		}
		if err := w.Guard.CheckTargets(ctx, []json.RawMessage{target})[0]; err != nil {
			return nil, fmt.Errorf("BELFRY_ALERT_URL: %w", err)
		}
		a.target = target
	}
	if s.AlertTopicURL != "" {
		topic, err := pubsub.OpenTopic(ctx, s.AlertTopicURL)
		if err != nil {
			return nil, fmt.Errorf("BELFRY_ALERT_TOPIC_URL: %w", withoutURL(err, s.AlertTopicURL))
		}
		a.topic = topic
	}
	return a, nil
}

const alertNeedsSecrets = "BELFRY_ALERT_URL: nothing is delivered without BELFRY_WEBHOOK_SECRETS" //nolint:gosec // names of settings

// withoutURL removes the URL from a library's error: it may contain a password.
func withoutURL(err error, text string) error {
	if u, parsed := url.Parse(text); parsed == nil && u.Scheme != "" {
		return fmt.Errorf("no topic could be opened for the scheme %q; is it one this program links?", u.Scheme)
	}
	return errors.New("want a gocloud URL such as mem://alerts")
}

// Publish delivers events of the alerts in their present state. After an error, publish all again: receivers recognise
// repeats by id and event.
func (a *Alerts) Publish(ctx context.Context, alerts []core.Alert) error {
	var jobs []core.NewJob
	for i := range alerts {
		e := alertEventOf(&alerts[i], a.names.AlertID(ctx, &alerts[i]))
		body, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("alert %s: %w", e.ID, err)
		}
		if a.topic != nil {
			m := &pubsub.Message{Body: body, Metadata: map[string]string{"event": e.Event, "kind": e.Kind, "id": e.ID}}
			if err := a.topic.Send(ctx, m); err != nil {
				return fmt.Errorf("alert %s: send to the topic: %w", e.ID, err)
			}
		}
		if e.Kind == core.AlertJobFailed && strings.HasPrefix(e.Subject, core.AlertType+"/") {
			continue // the webhook would get such an alert by the same kind of job that fails
		}
		jobs = append(jobs, core.NewJob{
			Type: core.AlertType, Payload: body, Priority: core.Critical, Target: a.target, DedupeKey: core.AlertType + " " + e.ID + " " + e.Event, Tags: []string{"alert"},
		})
	}
	if a.target == nil || len(jobs) == 0 {
		return nil
	}
	if err := a.store.MarkDelivered(ctx, []string{core.AlertType}); err != nil {
		return fmt.Errorf("alerts: %w", err)
	}
	if _, err := a.store.Submit(ctx, jobs); err != nil {
		return fmt.Errorf("alerts: %w", err)
	}
	return nil
}

// Close closes the topic.
func (a *Alerts) Close(ctx context.Context) error {
	if a == nil || a.topic == nil {
		return nil
	}
	return a.topic.Shutdown(ctx)
}

// checkAlerts checks the settings of alerts.
func (s Settings) checkAlerts(bad tellFault) {
	if s.AlertURL != "" && len(s.WebhookSecrets) == 0 {
		bad("BELFRY_ALERT_URL", "nothing is delivered without BELFRY_WEBHOOK_SECRETS")
	} else if u, err := url.Parse(s.AlertURL); s.AlertURL != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		bad("BELFRY_ALERT_URL", "want a URL that begins with http:// or https:// (the value is not shown: it may hold a secret)") // the address is checked when the alerts are opened
	}
	if s.AlertTopicURL != "" {
		if !gocloudURL(s.AlertTopicURL) {
			bad("BELFRY_ALERT_TOPIC_URL", "want a gocloud URL such as mem://alerts (the value is not shown: it may hold a password)")
		}
	}
	bad.within("BELFRY_LEDGER_RETENTION", s.LedgerRetention, 0, 100*365*24*time.Hour)
}
