package api

import (
	"maps"
	"slices"
)

// NeededOperations are the ids of all operations that say what they need.
func NeededOperations() []string { return slices.Sorted(maps.Keys(needs)) }

// Waiting counts the calls that wait.
func (a *API) Waiting() int {
	a.wait.mu.Lock()
	defer a.wait.mu.Unlock()
	return a.wait.n
}
