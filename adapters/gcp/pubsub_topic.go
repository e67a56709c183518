package gcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	google "cloud.google.com/go/pubsub/v2"
	"gocloud.dev/pubsub"
	"gocloud.dev/pubsub/gcppubsubv2"

	"github.com/belfry-dev/belfry/core"
)

// topic implements core.Topic. The client sends concurrent messages together, up to 100 per call.
type topic struct {
	client   *google.Client
	portable *pubsub.Topic
}

// OpenTopic opens the topic of a priority.
func (q *Queue) OpenTopic(ctx context.Context, p core.Priority) (core.Topic, error) {
	at := q.places[p]
	client, err := google.NewClient(ctx, at.project, at.dial...)
	if err != nil {
		return nil, fmt.Errorf("gcp: open the %s topic: %w", p, err)
	}
	return &topic{client: client, portable: gcppubsubv2.OpenTopic(client, at.topic, nil)}, nil
}

// Send publishes all messages. Those without an answer when ctx ends are unknown.
func (t *topic) Send(ctx context.Context, msgs []core.Message) []error {
	errs := make([]error, len(msgs))
	var sends sync.WaitGroup
	for i, m := range msgs {
		sends.Go(func() {
			if err := t.portable.Send(ctx, &pubsub.Message{Body: m.Encode()}); err != nil {
				errs[i] = fmt.Errorf("gcp: send: %w", err)
			}
		})
	}
	sends.Wait()
	return errs
}

// Close waits for sends in progress, and cancels them when ctx ends.
func (t *topic) Close(ctx context.Context) error {
	var publisher *google.Publisher
	stop := t.portable.As(&publisher)
	err := t.portable.Shutdown(ctx)
	if stop {
		publisher.Stop() // gocloud.dev leaves its goroutines running
	}
	if err = errors.Join(err, t.client.Close()); err != nil {
		return fmt.Errorf("gcp: close the topic: %w", err)
	}
	return nil
}
