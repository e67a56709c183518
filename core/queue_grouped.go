package core

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// GroupedQueue is the queues of an installation in which groups of types have queues of their own. What its topics are sent
// goes to the queue of each message's type. A Worker receives from some of its queues apart.
type GroupedQueue struct {
	groups QueueGroups
	queues []Queue // the first for types in no group, then one per group, by name
}

// NewGroupedQueue opens a Queue for each group, and one for the types of none, whose name is "". Without groups it is that
// one.
func NewGroupedQueue(groups QueueGroups, open func(group string) (Queue, error)) (Queue, error) {
	if len(groups.names) == 0 {
		return open("")
	}
	q := &GroupedQueue{groups: groups}
	for _, name := range append([]string{""}, groups.names...) {
		queue, err := open(name)
		if err != nil {
			return nil, groupError(name, err)
		}
		q.queues = append(q.queues, queue)
	}
	return q, nil
}

// groupError says of which group's queues an error is.
func groupError(group string, err error) error {
	if group == "" {
		return err
	}
	return fmt.Errorf("group %s: %w", group, err)
}

// WrapQueue puts something around queue or, where groups of types have queues of their own, around those of each. The
// group's name is "" for the types of none.
func WrapQueue(queue Queue, wrap func(group string, queue Queue) Queue) Queue {
	grouped, ok := queue.(*GroupedQueue)
	if !ok {
		return wrap("", queue)
	}
	wrapped := &GroupedQueue{groups: grouped.groups}
	for i, q := range grouped.queues {
		wrapped.queues = append(wrapped.queues, wrap(grouped.name(i), q))
	}
	return wrapped
}

// GroupsOf are the groups of types that have queues of their own in queue. None where it is nil.
func GroupsOf(queue Queue) QueueGroups {
	if grouped, ok := queue.(*GroupedQueue); ok {
		return grouped.groups
	}
	return QueueGroups{}
}

// name is the name of the group at a place among the queues.
func (q *GroupedQueue) name(place int) string {
	if place == 0 {
		return ""
	}
	return q.groups.names[place-1]
}

// OpenTopic opens the topics of a priority. It is a GroupedTopic.
func (q *GroupedQueue) OpenTopic(ctx context.Context, p Priority) (Topic, error) {
	t := &GroupedTopic{groups: q.groups}
	for i, queue := range q.queues {
		topic, err := queue.OpenTopic(ctx, p)
		if err != nil {
			return nil, errors.Join(groupError(q.name(i), err), t.Close(ctx))
		}
		t.topics = append(t.topics, topic)
	}
	return t, nil
}

// OpenSubscription opens the subscription for types in no group. Those of groups are opened by who receives from them.
func (q *GroupedQueue) OpenSubscription(ctx context.Context, p Priority) (Subscription, error) {
	return q.queues[0].OpenSubscription(ctx, p)
}

// GroupedTopic is the topics of one priority, of which each message goes to that of its type.
type GroupedTopic struct {
	groups QueueGroups
	topics []Topic // as GroupedQueue.queues
}

// Send publishes each message to the topic of its type, to several topics at once.
func (t *GroupedTopic) Send(ctx context.Context, messages []Message) []error {
	parts := make([][]int, len(t.topics)) // places in messages, by topic
	for i := range messages {
		n := t.groups.place(messages[i].Type)
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
			part := make([]Message, len(places))
			for i, place := range places {
				part[i] = messages[place]
			}
			answers := t.topics[n].Send(ctx, part)
			for i, place := range places {
				if errs[place] = errNoAnswer; i < len(answers) {
					errs[place] = answers[i]
				}
			}
		})
	}
	group.Wait()
	return errs
}

// Close closes all.
func (t *GroupedTopic) Close(ctx context.Context) error {
	errs := make([]error, len(t.topics))
	for i, topic := range t.topics {
		errs[i] = topic.Close(ctx)
	}
	return errors.Join(errs...)
}

// groupsOfTopics are the groups that topics tell apart.
func groupsOfTopics(topics map[Priority]Topic) QueueGroups {
	for _, topic := range topics {
		if grouped, ok := topic.(*GroupedTopic); ok {
			return grouped.groups
		}
	}
	return QueueGroups{}
}

// topicsByPlace are the topics of a priority, one where there are no groups.
func topicsByPlace(topic Topic) []Topic {
	if grouped, ok := topic.(*GroupedTopic); ok {
		return grouped.topics
	}
	return []Topic{topic}
}
