package boot

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/queuegroup"
)

// The names of the queue settings, for errors.
const (
	queuesSetting       = "BELFRY_QUEUES"
	queuesURLSetting    = "BELFRY_QUEUES_URL"
	workerQueuesSetting = "BELFRY_WORKER_QUEUES"
)

// The placeholders in BELFRY_QUEUES_URL.
const (
	groupMark    = "{group}"
	priorityMark = "{priority}"
)

// QueueURL is the URL of one queue, and the setting that it comes from.
type QueueURL struct {
	Setting string
	Key     queuegroup.Key
	URL     string
}

// QueueURLs returns the URLs of all queues: of the priorities, then of each group. Nil if no priority has one.
func (s Settings) QueueURLs() (all []QueueURL) {
	if s.QueueCriticalURL == "" && s.QueueDefaultURL == "" && s.QueueBulkURL == "" {
		return nil
	}
	groups, _ := s.queueGroups()
	for _, key := range groups.Keys() {
		q := QueueURL{"BELFRY_QUEUE_" + strings.ToUpper(key.Priority.String()) + "_URL", key, s.priorityURLs()[key.Priority]}
		if key.Group != "" {
			q.Setting, q.URL = queuesURLSetting, strings.NewReplacer(groupMark, key.Group, priorityMark, key.Priority.String()).Replace(s.QueuesURL)
		}
		all = append(all, q)
	}
	return all
}

func (s Settings) priorityURLs() map[core.Priority]string {
	return map[core.Priority]string{core.Critical: s.QueueCriticalURL, core.Default: s.QueueDefaultURL, core.Bulk: s.QueueBulkURL}
}

// OpenQueues opens the queues that the settings name. It calls open with three URLs at a time, one per priority. Nil in
// direct mode. Errors name the settings.
func (s Settings) OpenQueues(open func(urls map[core.Priority]string) (core.Queue, error)) (core.Queue, error) {
	if !s.QueueMode() {
		return nil, nil
	}
	groups, err := s.queueGroups()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", queuesSetting, err)
	}
	urls := map[string]map[core.Priority]string{}
	for _, q := range s.QueueURLs() {
		if urls[q.Key.Group] == nil {
			urls[q.Key.Group] = map[core.Priority]string{}
		}
		urls[q.Key.Group][q.Key.Priority] = q.URL
	}
	return queuegroup.NewQueue(groups, func(group string) (core.Queue, error) {
		queue, err := open(urls[group])
		switch {
		case err == nil:
			return queue, nil
		case group == "":
			return nil, fmt.Errorf("BELFRY_QUEUE_*_URL: %w", err)
		}
		return nil, fmt.Errorf("%s: %w", queuesURLSetting, err)
	})
}

// TakenGroups returns the groups from whose queues a worker receives; "" is the ungrouped types. Nil: its handlers decide.
func (s Settings) TakenGroups() (taken []string) {
	for _, name := range s.WorkerQueues {
		if name == queuegroup.Ungrouped {
			name = ""
		}
		taken = append(taken, name)
	}
	return taken
}

// queueGroups reads BELFRY_QUEUES: groups with semicolons, each NAME=TYPE,TYPE.
func (s Settings) queueGroups() (queuegroup.Groups, error) {
	if s.Queues == "" {
		return queuegroup.Groups{}, nil
	}
	patterns := map[string][]string{}
	var errs []error
	parts := strings.Split(s.Queues, ";")
	for i, part := range parts {
		name, types, ok := strings.Cut(part, "=")
		switch _, twice := patterns[name]; {
		case part == "":
			errs = append(errs, fmt.Errorf("group %d of %d is empty: want NAME=TYPE,TYPE with semicolons between groups", i+1, len(parts)))
		case !ok:
			errs = append(errs, fmt.Errorf("group %d of %d is %q, want NAME=TYPE,TYPE, such as media=video.*,image.*", i+1, len(parts), part))
		case twice:
			errs = append(errs, fmt.Errorf("group %s is given twice", name))
		case types == "":
			patterns[name] = nil
		default:
			patterns[name] = strings.Split(types, ",")
		}
	}
	groups, err := queuegroup.New(patterns)
	return groups, errors.Join(append(errs, err)...)
}

// checkQueueGroups checks the settings of groups.
func (s Settings) checkQueueGroups(bad tellFault) {
	groups, err := s.queueGroups()
	for _, fault := range faultsOf(err) {
		bad(queuesSetting, "%s", fault)
	}
	switch {
	case s.Queues == "" && s.QueuesURL != "":
		bad(queuesURLSetting, "is set, but there are no groups: set %s, too", queuesSetting)
	case s.Queues != "" && !s.QueueMode():
		bad(queuesSetting, "is set, but workers claim from the table: set BELFRY_QUEUE_CRITICAL_URL, BELFRY_QUEUE_DEFAULT_URL and BELFRY_QUEUE_BULK_URL, too")
	case s.Queues != "":
		s.checkQueuesURL(bad, err == nil)
	}
	for i, name := range s.WorkerQueues {
		switch {
		case s.Queues == "":
			bad(workerQueuesSetting, "names %s, but there are no groups: set %s, too", name, queuesSetting)
		case err == nil && name != queuegroup.Ungrouped && !slices.Contains(groups.Names(), name):
			bad(workerQueuesSetting, "there is no group %q, want some of %s", name, strings.Join(append(slices.Clone(groups.Names()), queuegroup.Ungrouped), ", "))
		case slices.Contains(s.WorkerQueues[:i], name):
			bad(workerQueuesSetting, "%s is given twice", name)
		}
	}
}

// checkQueuesURL checks that the URL differs for all groups and priorities. It leaves out groups with faults: a fault of a
// name is none of the URL.
func (s Settings) checkQueuesURL(bad tellFault, sound bool) {
	missing := false
	for _, mark := range []string{groupMark, priorityMark} {
		if !strings.Contains(s.QueuesURL, mark) {
			bad(queuesURLSetting, "does not hold %s: each group has a queue of its own for each priority, so want a URL such as mem://%s-%s", mark, groupMark, priorityMark)
			missing = true
		}
	}
	if missing {
		return
	}
	if !gocloudURL(strings.NewReplacer(groupMark, "group", priorityMark, core.Default.String()).Replace(s.QueuesURL)) {
		bad(queuesURLSetting, "want a gocloud URL such as mem://%s-%s (the value is not shown: it may hold a password, whose special characters must be percent-encoded)", groupMark, priorityMark)
		return
	}
	if !sound {
		return
	}
	seen := map[string]QueueURL{}
	for _, q := range s.QueueURLs() {
		if other, twice := seen[q.URL]; twice && q.Key.Group != "" {
			bad(queuesURLSetting, "gives the %s queue the URL of the %s queue", q.Key, other.Key)
		}
		seen[q.URL] = q
	}
}

// faultsOf returns the errors that were joined.
func faultsOf(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		if err == nil {
			return nil
		}
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, faultsOf(e)...)
	}
	return all
}
