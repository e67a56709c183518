package work

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
)

// receivedQueue holds the queues of all priorities that a worker receives from, for one group of types or for the ungrouped
// types.
type receivedQueue struct {
	group string
	queue core.Queue
}

// receivedGroups returns the groups whose jobs the worker takes; "" is the ungrouped types. They are those of
// Options.Groups, or else all groups if the worker delivers, or the groups of its handlers' types.
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

// ReceivedQueues returns the keys of the queues that the worker receives from if it is given queue.
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

// CheckQueue returns, before anything is received, why Receive would refuse queue. If messages come with calls, it checks
// Options.Pass.
func (w *Worker) CheckQueue(queue core.Queue) error {
	if queue == nil && w.opts.Pass == nil {
		return nil
	}
	_, err := w.join(queue)
	return err
}

// join sets the queues that the worker receives from, and the types that it may announce.
func (w *Worker) join(queue core.Queue) ([]receivedQueue, error) {
	known := queue
	if w.opts.Pass != nil {
		known = w.opts.Pass // a function's messages come with a call, from one of these queues
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

// groupTitles returns the names of groups as operators write them.
func groupTitles(groups []string) []string {
	titles := slices.Clone(groups)
	for i, name := range titles {
		if name == "" {
			titles[i] = queuegroup.Ungrouped
		}
	}
	return titles
}

// announced returns what the worker announces. A worker that receives only the queues of some groups names each of their
// types, the delivered ones too: announcing that it delivers would mean all groups.
func (w *Worker) announced() (types []string, delivers bool) {
	if !w.restricted() {
		return w.types, w.delivers()
	}
	types, _ = w.current()
	return slices.DeleteFunc(slices.Clone(types), func(typ string) bool { return !slices.Contains(w.apart, w.groups.Of(typ)) }), false
}

// restricted reports whether the worker takes jobs of only some groups.
func (w *Worker) restricted() bool { return w.apart != nil && len(w.apart) <= len(w.groups.Names()) }
