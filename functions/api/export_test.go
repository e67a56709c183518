package api

import (
	"context"
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

// AnswerHolds are the operations that hold memory for their answers before these are found.
func AnswerHolds() []string { return slices.Sorted(maps.Keys(answerHolds)) }

// Budget is a budget, for its own tests.
type Budget = budget

var (
	NewBudget  = newBudget
	ErrCrowded = errCrowded
)

// Take gives a caller n bytes, or waits for them.
func (b *budget) Take(ctx context.Context, caller string, n int64) error {
	return b.take(ctx, caller, n)
}

// Give takes n bytes back.
func (b *budget) Give(caller string, n int64) { b.give(caller, n) }
