package gcp

import (
	"context"
	"encoding/json"
	"fmt"

	google "cloud.google.com/go/pubsub/v2"
	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
)

// IsWake reports whether the body of a request is a message pushed by Pub/Sub. Cloud Scheduler's requests contain none.
func IsWake(body []byte) bool {
	var envelope struct {
		Message json.RawMessage `json:"message"`
	}
	return json.Unmarshal(body, &envelope) == nil && envelope.Message != nil
}

// Waker publishes to a topic with a push subscription to the tick.
type Waker struct {
	client *google.Client
	topic  string
}

// NewWaker takes the topic's URL, gcppubsubv2://projects/PROJECT/topics/TOPIC.
func NewWaker(ctx context.Context, address string) (*Waker, error) {
	at, err := newPlace(address)
	if err != nil {
		return nil, fmt.Errorf("gcp: waker: %w", err)
	}
	client, err := google.NewClient(ctx, at.project, at.dial...)
	if err != nil {
		return nil, fmt.Errorf("gcp: waker: %w", err)
	}
	return &Waker{client, "projects/" + at.project + "/topics/" + at.topic}, nil
}

// Wake returns once the message is published.
func (w *Waker) Wake(ctx context.Context) error {
	_, err := w.client.TopicAdminClient.Publish(ctx, &pubsubpb.PublishRequest{Topic: w.topic, Messages: []*pubsubpb.PubsubMessage{{Data: []byte("wake")}}})
	if err != nil {
		return fmt.Errorf("gcp: wake the tick: %w", err)
	}
	return nil
}

// Close closes the connection.
func (w *Waker) Close() error {
	if err := w.client.Close(); err != nil {
		return fmt.Errorf("gcp: waker: %w", err)
	}
	return nil
}
