package work

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
)

// receivedQueue is the queues of all priorities that a worker receives from: of a group of types, or of the types of none.
type receivedQueue struct {
	group string
	queue core.Queue
}

// receivedGroups are the groups whose jobs the worker takes, "" standing for the types of none: those that it is told, or
// else all where it delivers, or those that its handlers' types are in.
func (w *Worker) receivedGroups(groups queuegroup.Groups) (received []string) {
	all := append([]string{""}, groups.Names()...)
	switch {
	case w.opts.Groups != nil:
		return w.opts.Groups
	case w.delivers():
		return all
	}
	handled := map[string]bool{}
	for _, typ := range w.types {
		handled[groups.Of(typ)] = true
	}
	return slices.DeleteFunc(all, func(name string) bool { return !handled[name] })
}

// ReceivedQueues name the queues that the worker receives from where it is given queue.
func (w *Worker) ReceivedQueues(queue core.Queue) (keys []queuegroup.Key) {
	groups := queuegroup.GroupsOf(queue)
	received := w.receivedGroups(groups)
	for _, key := range groups.Keys() {
		if slices.Contains(w.opts.Priorities, key.Priority) && (len(groups.Names()) == 0 || slices.Contains(received, key.Group)) {
			keys = append(keys, key)
		}
	}
	return keys
}

// CheckQueue reports, before anything is received, why Receive would refuse queue. Where messages come with calls, it is about
// Options.Pass.
func (w *Worker) CheckQueue(queue core.Queue) error {
	if queue == nil && w.opts.Pass == nil {
		return nil
	}
	_, err := w.join(queue)
	return err
}

// join finds the queues that the worker receives from, and what it may say that it handles.
func (w *Worker) join(queue core.Queue) ([]receivedQueue, error) {
	known := queue
	if w.opts.Pass != nil {
		known = w.opts.Pass // of a function: its messages come with a call, from one of these
	}
	groups := queuegroup.GroupsOf(known)
	if len(groups.Names()) == 0 {
		return []receivedQueue{{"", queue}}, nil
	}
	received := w.receivedGroups(groups)
	for _, name := range received {
		if name != "" && !slices.Contains(groups.Names(), name) {
			return nil, fmt.Errorf("worker: there is no group %q of types", name)
		}
	}
	if w.opts.Groups != nil && !w.delivers() && !slices.ContainsFunc(w.types, func(typ string) bool { return slices.Contains(received, groups.Of(typ)) }) {
		return nil, fmt.Errorf("worker: it has no handler for a type of its queues, %s: it handles %s", strings.Join(groupTitles(received), ", "), strings.Join(w.types, ", "))
	}
	if w.opts.Groups != nil || w.opts.Pass == nil {
		w.groups, w.apart = groups, received
	}
	grouped, ok := queue.(*queuegroup.Queue)
	if !ok {
		return []receivedQueue{{"", queue}}, nil
	}
	if len(received) == 0 {
		return nil, errors.New("worker: it receives from no queue")
	}
	queues := make([]receivedQueue, len(received))
	for i, name := range received {
		queues[i] = receivedQueue{name, grouped.Queues[1+slices.Index(groups.Names(), name)]}
	}
	return queues, nil
}

// groupTitles are the names of groups as operators write them.
func groupTitles(groups []string) []string {
	titles := slices.Clone(groups)
	for i, name := range titles {
		if name == "" {
			titles[i] = queuegroup.Ungrouped
		}
	}
	return titles
}

// announced is what the worker says that it handles. One that receives the queues of some groups only names the types of
// these one by one, those that are delivered, too: that it delivers would be taken for all groups.
func (w *Worker) announced() (types []string, delivers bool) {
	if !w.restricted() {
		return w.types, w.delivers()
	}
	types, _ = w.current()
	return slices.DeleteFunc(slices.Clone(types), func(typ string) bool { return !slices.Contains(w.apart, w.groups.Of(typ)) }), false
}

// restricted reports whether the worker takes jobs of some groups only.
func (w *Worker) restricted() bool { return w.apart != nil && len(w.apart) <= len(w.groups.Names()) }
