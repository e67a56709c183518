package storetest

import "testing"

// Breaker is a Database in which a row can be made to raise an error whenever it is worked on, as a lost page or somebody's
// trigger does it.
type Breaker interface {
	// Break does so to the live job, or dead letter, of that id, or to all of its type. mend undoes it. Nil means that it cannot be done here.
	Break(t *testing.T, how Break, id int64) (mend func())
}

// Break is a way in which a row raises an error.
type Break int

// The ways.
const (
	BreakPayload Break = iota + 1 // the job's payload, which is large, cannot be read any more
	BreakChange                   // changes of rows of the job's type are refused
	BreakCommit                   // the same, only when the transaction ends
	BreakUndo                     // the same, and the whole transaction is undone
	BreakIgnore                   // changes of rows of the job's type are passed over without a word
	BreakRemove                   // rows of the job's type cannot be taken away
	BreakTwin                     // a dead letter has the job's id already
	BreakDone                     // the history takes no job of the type, or has its id already
	BreakInsert                   // no job of the type can be made any more
	BreakDrop                     // dead letters of the type cannot be taken away
)

var breakNames = [...]string{
	BreakPayload: "a payload that is lost", BreakChange: "a trigger that refuses changes", BreakCommit: "a trigger that refuses changes at the end",
	BreakUndo: "a trigger that undoes all", BreakIgnore: "a trigger that ignores changes", BreakRemove: "a trigger that refuses removals",
	BreakTwin: "a dead letter of its id", BreakDone: "a history that refuses it", BreakInsert: "a trigger that refuses new ones",
	BreakDrop: "a trigger that keeps dead letters",
}

// String names the way as subtests do.
func (b Break) String() string { return breakNames[b] }
