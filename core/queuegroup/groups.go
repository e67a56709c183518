package queuegroup

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// Ungrouped is the name, in lists of groups, for the types in no group. They share the queues of the priorities.
const Ungrouped = "ungrouped"

// Max is the maximum number of groups. Each group has a queue per priority.
const Max = 50

// Groups says which types have queues of their own: each group of types has a queue per priority. The zero value has no
// groups. It is immutable.
type Groups struct {
	names    []string       // sorted
	exact    map[string]int // group number of each type; the first group is 1
	prefixes []typePrefix   // none is a prefix of another
}

// typePrefix puts all types that begin with text into a group.
type typePrefix struct {
	text  string
	group int
}

// New makes groups from patterns by group name. A pattern is the name of a type, or a prefix and a *. No type may match two
// patterns. The error joins all faults.
func New(patterns map[string][]string) (Groups, error) {
	g := Groups{names: slices.Sorted(maps.Keys(patterns)), exact: map[string]int{}}
	var errs []error
	if len(g.names) > Max {
		errs = append(errs, fmt.Errorf("there are %d groups, want at most %d", len(g.names), Max))
	}
	var taken []groupedPattern
	for i, name := range g.names {
		if err := checkGroupName(name); err != nil {
			errs = append(errs, err)
		}
		if len(patterns[name]) == 0 {
			errs = append(errs, fmt.Errorf("group %s has no types: want NAME=TYPE,TYPE", name))
		}
		for _, pattern := range patterns[name] {
			if err := checkPattern(pattern); err != nil {
				errs = append(errs, fmt.Errorf("group %s: %w", name, err))
				continue
			}
			for _, other := range taken {
				if example, both := other.overlaps(pattern); both {
					errs = append(errs, overlapFault(example, other, groupedPattern{name, pattern}))
				}
			}
			taken = append(taken, groupedPattern{name, pattern})
			if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
				g.prefixes = append(g.prefixes, typePrefix{prefix, i + 1})
			} else {
				g.exact[pattern] = i + 1
			}
		}
	}
	return g, errors.Join(errs...)
}

// checkGroupName checks a group's name, which becomes a part of queue names on every platform.
func checkGroupName(name string) error {
	legal := len(name) <= 30 && name != "" && name[0] >= 'a' && name[0] <= 'z'
	for i := range len(name) {
		c := name[i]
		legal = legal && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-')
	}
	if !legal {
		return fmt.Errorf("group %q: want a name of 1 to 30 of the characters a-z 0-9 -, beginning with a letter", name)
	}
	if _, err := core.ParsePriority(name); err == nil || name == Ungrouped {
		return fmt.Errorf("group %q: want another name, this one means something else: critical, default and bulk are priorities, and %s stands for the types of no group", name, Ungrouped)
	}
	return nil
}

// checkPattern refuses a pattern that no job's type can match, and *, which every type matches.
func checkPattern(pattern string) error {
	prefix, open := strings.CutSuffix(pattern, "*")
	example := prefix
	if open {
		example += "x"
	}
	switch {
	case pattern == "*":
		return errors.New("* is every type: leave out BELFRY_QUEUES and give those queues to the priorities")
	case !core.ValidType(example) || len(example) > core.MaxTypeBytes:
		return fmt.Errorf("no type matches %q: want the name of a type, such as video.encode, or the beginning of one and a *, such as video.*", pattern)
	case core.Reserved(example):
		return fmt.Errorf("%q is Belfry's own: types that begin with %s always share the queues of their priorities", pattern, core.ReservedPrefix)
	}
	return nil
}

// groupedPattern is a pattern and its group.
type groupedPattern struct{ group, pattern string }

// overlaps reports whether some type matches both patterns, and returns such a type or a pattern for all of them.
func (p groupedPattern) overlaps(pattern string) (example string, both bool) {
	a, aOpen := strings.CutSuffix(p.pattern, "*")
	b, bOpen := strings.CutSuffix(pattern, "*")
	switch {
	case p.pattern == pattern, aOpen && strings.HasPrefix(b, a):
		return pattern, true
	case bOpen && strings.HasPrefix(a, b):
		return p.pattern, true
	}
	return "", false
}

func overlapFault(example string, a, b groupedPattern) error {
	if a.group == b.group {
		return fmt.Errorf("group %s: %s is given twice, by %s and %s", a.group, example, a.pattern, b.pattern)
	}
	return fmt.Errorf("%s is in two groups, %s (%s) and %s (%s): a type may be in one only", example, a.group, a.pattern, b.group, b.pattern)
}

// Names returns the names of the groups, sorted, or nil if there is none.
func (g Groups) Names() []string { return g.names }

// Of returns the name of a type's group, or "" if it is in none.
func (g Groups) Of(typ string) string {
	if n := g.NumberOf(typ); n > 0 {
		return g.names[n-1]
	}
	return ""
}

// NumberOf returns the number of a type's group, starting at 1, or 0 if it is in none.
func (g Groups) NumberOf(typ string) int {
	if len(g.names) == 0 {
		return 0
	}
	if n := g.exact[typ]; n > 0 {
		return n
	}
	for _, p := range g.prefixes {
		if strings.HasPrefix(typ, p.text) {
			return p.group
		}
	}
	return 0
}

// Keys returns the keys of all queues: first those of the types in no group, then each group's, by priority.
func (g Groups) Keys() []Key {
	keys := make([]Key, 0, (len(g.names)+1)*len(core.Priorities))
	for _, name := range append([]string{""}, g.names...) {
		for _, p := range core.Priorities {
			keys = append(keys, Key{p, name})
		}
	}
	return keys
}

// KeyOf returns the key of the queue for jobs of a priority and type.
func (g Groups) KeyOf(p core.Priority, typ string) Key { return Key{p, g.Of(typ)} }

// Queued returns the number of jobs in each queue. all holds the counts by priority (index: priority - 1). types holds the
// counts by type, which are needed only if there are groups.
func (g Groups) Queued(all [len(core.Priorities)]int, types []core.QueuedType) map[Key]int {
	queued := map[Key]int{}
	if len(g.names) == 0 {
		for _, p := range core.Priorities {
			queued[Key{Priority: p}] = all[p-1]
		}
		return queued
	}
	for _, t := range types {
		queued[g.KeyOf(t.Priority, t.Type)] += t.N
	}
	return queued
}

// Key identifies a queue by its priority and its group of types; the group is "" for types in no group.
type Key struct {
	Priority core.Priority
	Group    string
}

// String returns the queue's name for logs and errors, such as "default" or "media default".
func (k Key) String() string {
	if k.Group == "" {
		return k.Priority.String()
	}
	return k.Group + " " + k.Priority.String()
}

// IndexOf returns the index in Groups.Keys of the queue of a priority and a group's number.
func IndexOf(p core.Priority, group int) int { return group*len(core.Priorities) + int(p) - 1 }
