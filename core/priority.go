package core

import "fmt"

// Priority is one of three classes of urgency. Each has a queue of its own. Classes share the slots by
// weight, so that bulk is slow under load but never starves. The numbers are what stores keep.
type Priority int16

// The three priorities, most urgent first.
const (
	Critical Priority = 1
	Default  Priority = 2
	Bulk     Priority = 3
)

// Priorities lists all priorities, most urgent first.
var Priorities = [...]Priority{Critical, Default, Bulk}

// String returns the priority's word.
func (p Priority) String() string {
	switch p {
	case Critical:
		return "critical"
	case Default:
		return "default"
	case Bulk:
		return "bulk"
	}
	return fmt.Sprintf("priority(%d)", int16(p))
}

// Valid reports whether p is one of the three.
func (p Priority) Valid() bool { return p >= Critical && p <= Bulk }

// ParsePriority is the inverse of String. An unknown word is an error that lists the known ones.
func ParsePriority(word string) (Priority, error) {
	for _, p := range Priorities {
		if p.String() == word {
			return p, nil
		}
	}
	return 0, fmt.Errorf("unknown priority %q: want critical, default or bulk", word)
}
