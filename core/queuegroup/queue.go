package queuegroup

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/belfry-dev/belfry/core"
)

// Queue combines the queues of an installation that has groups. Its topics send each message to the queue of the message's
// type. A Worker receives from the queues separately.
type Queue struct {
	groups Groups
	Queues []core.Queue // the first for types in no group, then one per group, by name
}

// NewQueue opens a core.Queue for each group, and one for the types in no group, whose name is "". Without groups it returns
// just that one.
func NewQueue(groups Groups, open func(group string) (core.Queue, error)) (core.Queue, error) {
	if len(groups.names) == 0 {
		return open("")
	}
	q := &Queue{groups: groups}
	for _, name := range append([]string{""}, groups.names...) {
		queue, err := open(name)
		if err != nil {
			return nil, groupError(name, err)
		}
		q.Queues = append(q.Queues, queue)
	}
	return q, nil
}

// groupError adds the group's name to an error of its queues.
func groupError(group string, err error) error {
	if group == "" {
		return err
	}
	return fmt.Errorf("group %s: %w", group, err)
}

// Wrap wraps queue, or each group's queue if it is a *Queue. The group's name is "" for the types in no group.
func Wrap(queue core.Queue, wrap func(group string, queue core.Queue) core.Queue) core.Queue {
	grouped, ok := queue.(*Queue)
	if !ok {
		return wrap("", queue)
	}
	wrapped := &Queue{groups: grouped.groups}
	for i, q := range grouped.Queues {
		wrapped.Queues = append(wrapped.Queues, wrap(grouped.name(i), q))
	}
	return wrapped
}

// GroupsOf returns the groups that have queues of their own in queue. A nil queue has none.
func GroupsOf(queue core.Queue) Groups {
	if grouped, ok := queue.(*Queue); ok {
		return grouped.groups
	}
	return Groups{}
}

// name returns the group's name of the queue at index place.
func (q *Queue) name(place int) string {
	if place == 0 {
		return ""
	}
	return q.groups.names[place-1]
}

// OpenTopic opens the topics of a priority and returns them as a *Topic.
func (q *Queue) OpenTopic(ctx context.Context, p core.Priority) (core.Topic, error) {
	t := &Topic{groups: q.groups}
	for i, queue := range q.Queues {
		topic, err := queue.OpenTopic(ctx, p)
		if err != nil {
			return nil, errors.Join(groupError(q.name(i), err), t.Close(ctx))
		}
		t.topics = append(t.topics, topic)
	}
	return t, nil
}

// OpenSubscription opens the subscription for the types in no group. Workers open those of the groups themselves.
func (q *Queue) OpenSubscription(ctx context.Context, p core.Priority) (core.Subscription, error) {
	return q.Queues[0].OpenSubscription(ctx, p)
}

// Topic combines the topics of one priority. It sends each message to the topic of its type's group.
type Topic struct {
	groups Groups
	topics []core.Topic // in the order of Queue.Queues
}

// Send publishes each message to the topic of its type's group, to several topics at the same time.
func (t *Topic) Send(ctx context.Context, messages []core.Message) []error {
	parts := make([][]int, len(t.topics)) // indexes in messages, by topic
	for i := range messages {
		n := t.groups.NumberOf(messages[i].Type)
		parts[n] = append(parts[n], i)
	}
	errs := make([]error, len(messages))
	var group sync.WaitGroup
	for n, places := range parts {
		if len(places) == len(messages) {
			return t.topics[n].Send(ctx, messages)
		}
		if len(places) == 0 {
			continue
		}
		group.Go(func() {
			part := make([]core.Message, len(places))
			for i, place := range places {
				part[i] = messages[place]
			}
			answers := t.topics[n].Send(ctx, part)
			for i, place := range places {
				if errs[place] = core.ErrNoAnswer; i < len(answers) {
					errs[place] = answers[i]
				}
			}
		})
	}
	group.Wait()
	return errs
}

// Close closes all topics.
func (t *Topic) Close(ctx context.Context) error {
	errs := make([]error, len(t.topics))
	for i, topic := range t.topics {
		errs[i] = topic.Close(ctx)
	}
	return errors.Join(errs...)
}

// GroupsOfTopics returns the groups that topics are split by.
func GroupsOfTopics(topics map[core.Priority]core.Topic) Groups {
	for _, topic := range topics {
		if grouped, ok := topic.(*Topic); ok {
			return grouped.groups
		}
	}
	return Groups{}
}

// TopicsByGroup returns the topics of a priority by group number: only one if there are no groups.
func TopicsByGroup(topic core.Topic) []core.Topic {
	if grouped, ok := topic.(*Topic); ok {
		return grouped.topics
	}
	return []core.Topic{topic}
}
