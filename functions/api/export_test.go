package api

import (
	"maps"
	"slices"

	"github.com/belfry-dev/belfry/functions/api/answer"
)

// NeededOperations are the ids of all operations that say what they need.
func NeededOperations() []string { return slices.Sorted(maps.Keys(needs)) }

// Waiting counts the calls that wait.
func (a *API) Waiting() int {
	return a.Wait.Waiting()
}

// AnswerHolds are the operations that hold memory for their answers before these are found.
func AnswerHolds() []string { return slices.Sorted(maps.Keys(answer.AnswerHolds)) }
