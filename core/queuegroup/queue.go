package queuegroup

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/belfry-dev/belfry/core"
)

// Queue is the queues of an installation in which groups of types have queues of their own. What its topics are sent
// goes to the queue of each message's type. A Worker receives from some of its queues apart.
type Queue struct {
	groups Groups
	Queues []core.Queue // the first for types in no group, then one per group, by name
}

// NewQueue opens a Queue for each group, and one for the types of none, whose name is "". Without groups it is that
// one.
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

// groupError says of which group's queues an error is.
func groupError(group string, err error) error {
	if group == "" {
		return err
	}
	return fmt.Errorf("group %s: %w", group, err)
}

// Wrap puts something around queue or, where groups of types have queues of their own, around those of each. The
// group's name is "" for the types of none.
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

// GroupsOf are the groups of types that have queues of their own in queue. None where it is nil.
func GroupsOf(queue core.Queue) Groups {
	if grouped, ok := queue.(*Queue); ok {
		return grouped.groups
	}
	return Groups{}
}

// name is the name of the group at a place among the queues.
func (q *Queue) name(place int) string {
	if place == 0 {
		return ""
	}
	return q.groups.names[place-1]
}

// OpenTopic opens the topics of a priority. It is a Topic.
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

// OpenSubscription opens the subscription for types in no group. Those of groups are opened by who receives from them.
func (q *Queue) OpenSubscription(ctx context.Context, p core.Priority) (core.Subscription, error) {
	return q.Queues[0].OpenSubscription(ctx, p)
}

// Topic is the topics of one priority, of which each message goes to that of its type.
type Topic struct {
	groups Groups
	topics []core.Topic // as Queue.queues
}

// Send publishes each message to the topic of its type, to several topics at once.
func (t *Topic) Send(ctx context.Context, messages []core.Message) []error {
	parts := make([][]int, len(t.topics)) // places in messages, by topic
	for i := range messages {
		n := t.groups.Place(messages[i].Type)
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

// Close closes all.
func (t *Topic) Close(ctx context.Context) error {
	errs := make([]error, len(t.topics))
	for i, topic := range t.topics {
		errs[i] = topic.Close(ctx)
	}
	return errors.Join(errs...)
}

// GroupsOfTopics are the groups that topics tell apart.
func GroupsOfTopics(topics map[core.Priority]core.Topic) Groups {
	for _, topic := range topics {
		if grouped, ok := topic.(*Topic); ok {
			return grouped.groups
		}
	}
	return Groups{}
}

// TopicsByPlace are the topics of a priority, one where there are no groups.
func TopicsByPlace(topic core.Topic) []core.Topic {
	if grouped, ok := topic.(*Topic); ok {
		return grouped.topics
	}
	return []core.Topic{topic}
}
