package storetest

import "testing"

// Breaker is a Database in which a row can be made to raise an error on every access, as a lost page or a user's trigger
// does.
type Breaker interface {
	// Break breaks the live job or dead letter with this id, or all of its type. mend undoes it; nil means that the database
	// cannot do it.
	Break(t *testing.T, how Break, id int64) (mend func())
}

// Break is a way in which a row raises an error.
type Break int

// The ways to break a row.
const (
	BreakPayload Break = iota + 1 // the job's payload, which is large, cannot be read
	BreakChange                   // changes of rows of the job's type are refused
	BreakCommit                   // as BreakChange, but only when the transaction ends
	BreakUndo                     // as BreakChange, and the whole transaction is rolled back
	BreakIgnore                   // changes of rows of the job's type are silently ignored
	BreakRemove                   // rows of the job's type cannot be deleted
	BreakTwin                     // a dead letter already has the job's id
	BreakDone                     // the history rejects jobs of the type, or already has the job's id
	BreakInsert                   // no job of the type can be created
	BreakNote                     // failures of the type cannot be noted
	BreakDrop                     // dead letters of the type cannot be deleted
)

var breakNames = [...]string{
	BreakPayload: "a payload that is lost", BreakChange: "a trigger that refuses changes", BreakCommit: "a trigger that refuses changes at the end",
	BreakUndo: "a trigger that undoes all", BreakIgnore: "a trigger that ignores changes", BreakRemove: "a trigger that refuses removals",
	BreakTwin: "a dead letter of its id", BreakDone: "a history that refuses it", BreakInsert: "a trigger that refuses new ones",
	BreakNote: "notes of failures that are refused",
	BreakDrop: "a trigger that keeps dead letters",
}

// String returns the way's name, as used in subtests.
func (b Break) String() string { return breakNames[b] }
