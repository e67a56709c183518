package aws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"gocloud.dev/pubsub"
	"gocloud.dev/pubsub/awssnssqs"
	"gocloud.dev/pubsub/batcher"

	"github.com/belfry-dev/belfry/core"
)

// batchSize is the maximum number of messages that SQS accepts in one call.
const batchSize = 10

// topic implements core.Topic. gocloud.dev's batcher sends its messages as soon as a call is free, usually one message per
// call. So there is one portable topic per batch size, which waits for that many messages. The messages of a Send are cut
// into batches of ten and a rest, and each batch goes to the topic of its size.
type topic struct {
	portable [batchSize]*pubsub.Topic
	opts     QueueOptions
	sends    sync.WaitGroup
}

// OpenTopic opens the topic of a priority.
func (q *Queue) OpenTopic(ctx context.Context, p core.Priority) (core.Topic, error) {
	at := q.places[p]
	t := &topic{opts: q.opts}
	for i := range t.portable {
		t.portable[i] = awssnssqs.OpenSQSTopic(ctx, at.client, at.url, &awssnssqs.TopicOptions{
			BatcherOptions: batcher.Options{MinBatchSize: i + 1, MaxBatchSize: i + 1},
		})
	}
	return t, nil
}

// Send publishes in batches of ten. If the answer to a batch reports a failed message, all ten are unknown.
func (t *topic) Send(ctx context.Context, msgs []core.Message) []error {
	errs := make([]error, len(msgs))
	if err := ctx.Err(); err != nil {
		return unknown(errs, err)
	}
	answers := make(chan answer, len(msgs))
	// A batch waits for all its messages, so each of them is passed on even after ctx has ended.
	whole := context.WithoutCancel(ctx)
	for i, m := range msgs {
		portable := t.portable[min(len(msgs)-i/batchSize*batchSize, batchSize)-1]
		t.sends.Go(func() {
			answers <- answer{i, portable.Send(whole, &pubsub.Message{Body: m.Encode(), BeforeSend: t.beforeSend(m)})}
		})
	}
	unknown(errs, errNoAnswer)
	for range msgs {
		select {
		case a := <-answers:
			if errs[a.i] = a.err; a.err != nil {
				errs[a.i] = fmt.Errorf("aws: send: %w", a.err)
			}
		case <-ctx.Done():
			return errs
		}
	}
	return errs
}

// answer is the result for message i.
type answer struct {
	i   int
	err error
}

var errNoAnswer = errors.New("aws: send: SQS has not answered in time")

func unknown(errs []error, err error) []error {
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// beforeSend sets the fields that gocloud.dev does not know.
func (t *topic) beforeSend(m core.Message) func(asFunc func(any) bool) error {
	if t.opts.Delay == nil && (!t.opts.FairTenants || m.Tenant == "") {
		return nil
	}
	return func(asFunc func(any) bool) error {
		var entry *types.SendMessageBatchRequestEntry
		if !asFunc(&entry) {
			return errors.New("aws: gocloud.dev does not show the message that it sends")
		}
		if t.opts.Delay != nil {
			entry.DelaySeconds = seconds(t.opts.Delay(m), maxDelay)
		}
		if t.opts.FairTenants && m.Tenant != "" {
			entry.MessageGroupId = aws.String(group(m.Tenant))
		}
		return nil
	}
}

// groupCharacters are the characters allowed in a MessageGroupId.
const groupCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

// group returns a tenant's group: the tenant itself if SQS allows it as a name, otherwise a digest.
func group(tenant string) string {
	if len(tenant) <= maxGroupLength && strings.Trim(tenant, groupCharacters) == "" {
		return tenant
	}
	digest := sha256.Sum256([]byte(tenant))
	return hex.EncodeToString(digest[:])
}

// Close waits for sends in progress, and cancels them when ctx ends.
func (t *topic) Close(ctx context.Context) error {
	errs := make([]error, len(t.portable))
	var closing sync.WaitGroup
	for i, portable := range t.portable {
		closing.Go(func() {
			if err := portable.Shutdown(ctx); err != nil {
				errs[i] = fmt.Errorf("aws: close the topic: %w", err)
			}
		})
	}
	closing.Wait()
	t.sends.Wait()
	return errors.Join(errs...)
}
