package api

import (
	"maps"
	"slices"
)

// NeededOperations are the ids of all operations that say what they need.
func NeededOperations() []string { return slices.Sorted(maps.Keys(needs)) }
