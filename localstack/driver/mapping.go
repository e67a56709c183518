package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	batchSize  = 10               // the most that SQS hands out at once
	longPoll   = 20               // seconds; the longest that SQS knows
	afterFault = 2 * time.Second  // before a queue is asked again
	queueWait  = 60 * time.Second // for the queues to be made
)

// mapping is an event source mapping from one queue, with ReportBatchItemFailures.
type mapping struct {
	client      *sqs.Client
	name        string
	url, arn    string
	region      string
	worker      *function
	log         *slog.Logger
	deleteGrace time.Duration
}

// newMapping waits for the queue to be there.
func newMapping(ctx context.Context, client *sqs.Client, name string, worker *function, log *slog.Logger) (*mapping, error) {
	m := &mapping{client: client, name: name, region: client.Options().Region, worker: worker, log: log, deleteGrace: 5 * time.Second}
	told := false
	for deadline := time.Now().Add(queueWait); ; {
		err := m.find(ctx)
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) {
			return m, err
		}
		if !told {
			told = true
			log.Warn("waiting for the queue", "queue", name, "for", queueWait, "error", err)
		}
		pause(ctx, afterFault)
	}
}

func (m *mapping) find(ctx context.Context) error {
	found, err := m.client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &m.name})
	if err != nil {
		return fmt.Errorf("queue %s: %w", m.name, err)
	}
	m.url = sdk.ToString(found.QueueUrl)
	said, err := m.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &m.url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn}})
	if err != nil {
		return fmt.Errorf("queue %s: %w", m.name, err)
	}
	m.arn = said.Attributes[string(types.QueueAttributeNameQueueArn)]
	return nil
}

// run works on one batch after the other until ctx ends. Run n of them for a maximum concurrency of n.
func (m *mapping) run(ctx context.Context) {
	for ctx.Err() == nil {
		got, err := m.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl: &m.url, MaxNumberOfMessages: batchSize, WaitTimeSeconds: longPoll,
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if err == nil && len(got.Messages) > 0 {
			err = m.serve(ctx, got.Messages)
		}
		if err != nil && ctx.Err() == nil {
			m.log.Error("mapping", "queue", m.name, "error", err)
			pause(ctx, afterFault)
		}
	}
}

// serve invokes the worker with a batch and deletes what it does not return. What is left comes again by itself, once the
// queue's visibility timeout has passed.
func (m *mapping) serve(ctx context.Context, messages []types.Message) error {
	answer, err := m.worker.invoke(ctx, m.event(messages))
	if err != nil {
		return err
	}
	done, err := done(messages, answer)
	if err != nil {
		return err
	}
	if kept := len(messages) - len(done); kept > 0 {
		m.log.Warn("messages kept", "queue", m.name, "of", len(messages), "kept", kept)
	}
	if len(done) == 0 {
		return nil
	}
	// The work is done: its messages go even when the driver is told to stop.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.deleteGrace)
	defer cancel()
	said, err := m.client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &m.url, Entries: done})
	if err == nil && len(said.Failed) > 0 {
		err = fmt.Errorf("%d messages not deleted: %s", len(said.Failed), sdk.ToString(said.Failed[0].Message))
	}
	return err
}

// event is the event of a batch, in the shape that AWS documents.
func (m *mapping) event(messages []types.Message) events.SQSEvent {
	var event events.SQSEvent
	for _, message := range messages {
		event.Records = append(event.Records, events.SQSMessage{
			MessageId: sdk.ToString(message.MessageId), ReceiptHandle: sdk.ToString(message.ReceiptHandle),
			Body: sdk.ToString(message.Body), Md5OfBody: sdk.ToString(message.MD5OfBody), Attributes: message.Attributes,
			MessageAttributes: map[string]events.SQSMessageAttribute{},
			EventSource:       "aws:sqs", EventSourceARN: m.arn, AWSRegion: m.region,
		})
	}
	return event
}

// done are the messages that an answer lets go. As on AWS, an answer that cannot be read or names a message that is not
// of the batch keeps them all.
func done(messages []types.Message, answer []byte) ([]types.DeleteMessageBatchRequestEntry, error) {
	var said events.SQSEventResponse
	if err := json.Unmarshal(answer, &said); err != nil {
		return nil, fmt.Errorf("an answer that keeps the whole batch: %w", err)
	}
	kept := map[string]bool{}
	for _, failure := range said.BatchItemFailures {
		kept[failure.ItemIdentifier] = true
	}
	unknown := len(kept)
	var entries []types.DeleteMessageBatchRequestEntry
	for i, message := range messages {
		if kept[sdk.ToString(message.MessageId)] {
			unknown--
			continue
		}
		entries = append(entries, types.DeleteMessageBatchRequestEntry{Id: sdk.String(strconv.Itoa(i)), ReceiptHandle: message.ReceiptHandle})
	}
	if unknown > 0 {
		return nil, fmt.Errorf("an answer that keeps the whole batch: it names %d messages that are not of it", unknown)
	}
	return entries, nil
}
