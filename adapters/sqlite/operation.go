package sqlite

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/belfry-dev/belfry/core"
)

// operation is one caller's work in a transaction.
type operation struct {
	do      func(*tx) error
	alone   bool // runs between transactions: a checkpoint
	state   atomic.Int32
	result  error
	settled chan struct{} // closed once result stands
}

// The states of an operation. Its caller can withdraw it until it has begun.
const (
	waiting   = 0
	begun     = 1
	withdrawn = 2
)

// tx is what an operation works with: the writer's connection within a transaction. Its statements are not
// cut off by the caller's context: they are short, and a transaction is shared.
type tx struct {
	w   *writer
	now int64 // the time this operation goes by

	careful bool              // rows are worked on one by one, and those that raise an error set apart
	passed  map[apartKey]bool // rows that are passed over
	guilty  *core.RowFault    // the row whose error undid the whole transaction
	apart   map[string]int64  // how many rows of each kind are set apart, at most; counted once

	failures map[failure]failureNote // jobs that failed for good, noted once for each group when the operation ends
}

func (t *tx) exec(name string, args ...any) (int64, error) {
	return t.w.conn.exec(context.Background(), name, args...)
}

func (t *tx) query(name string, each func(row) error, args ...any) error {
	return t.w.conn.query(context.Background(), name, each, args...)
}

func (t *tx) number(name string, args ...any) (int64, bool, error) {
	return t.w.conn.number(context.Background(), name, args...)
}

// row returns the one row of a statement, or nil.
func (t *tx) row(name string, args ...any) (found row, err error) {
	err = t.query(name, func(r row) error {
		found = slices.Clone(r)
		return nil
	}, args...)
	return found, err
}

// rows returns all rows of a statement.
func (t *tx) rows(name string, args ...any) (found []row, err error) {
	err = t.query(name, func(r row) error {
		found = append(found, slices.Clone(r))
		return nil
	}, args...)
	return found, err
}

// begin claims the operation from its caller; false means that it was withdrawn.
func (o *operation) begin() bool { return o.state.CompareAndSwap(waiting, begun) }

func (o *operation) settle(err error) {
	o.result = err
	close(o.settled)
}
