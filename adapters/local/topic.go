package local

import (
	"context"
	"fmt"
	"slices"

	"gocloud.dev/pubsub"

	"github.com/belfry-dev/belfry/core"
)

// bundleSize is the maximum number of messages in a bundle.
const bundleSize = 250

// topic implements core.Topic.
type topic struct{ portable *pubsub.Topic }

// Send publishes in bundles. If a bundle fails, it is unknown whether its messages were published.
func (t *topic) Send(ctx context.Context, msgs []core.Message) []error {
	errs := make([]error, 0, len(msgs))
	for bundle := range slices.Chunk(msgs, bundleSize) {
		body := make([]byte, 0, 128*len(bundle))
		for i, m := range bundle {
			if i > 0 {
				body = append(body, '\n')
			}
			body = m.Append(body)
		}
		err := t.portable.Send(ctx, &pubsub.Message{Body: body})
		if err != nil {
			err = fmt.Errorf("local: send: %w", err)
		}
		for range bundle {
			errs = append(errs, err)
		}
	}
	return errs
}

// Close waits until running sends have ended.
func (t *topic) Close(ctx context.Context) error {
	if err := t.portable.Shutdown(ctx); err != nil {
		return fmt.Errorf("local: close the topic: %w", err)
	}
	return nil
}
