package sqlite

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	groupMax  = 512                   // operations in one transaction
	groupTime = 25 * time.Millisecond // after which a transaction takes no further operation in
)

// writer is the one goroutine that writes. While a commit waits for the disk, operations queue up; the next
// transaction runs them all.
type writer struct {
	conn  *conn
	place place
	clock *clock
	ids   *idFile

	mu     sync.RWMutex // held for writing by close only
	closed bool
	queue  chan *operation
	ended  chan struct{}

	nextID  int64        // the next job's id; goes to the file with the transaction that used it
	savedID int64        // nextID as the file has it
	commits atomic.Int64 // transactions committed
}

func startWriter(c *conn, where place, clock *clock, ids *idFile, nextID int64) *writer {
	w := &writer{conn: c, place: where, clock: clock, ids: ids, queue: make(chan *operation, groupMax), ended: make(chan struct{}), nextID: nextID, savedID: nextID}
	go w.loop()
	return w
}

// run has do executed in a transaction of the writer and returns when it is on disk. An error of do undoes
// what do did and nothing else. Once do has begun its outcome is waited for, whatever ctx says: the answer is
// never in doubt, and do never runs after run has returned.
func (w *writer) run(ctx context.Context, do func(*tx) error) error {
	return w.submit(ctx, &operation{do: do, settled: make(chan struct{})})
}

// runAlone has do executed outside any transaction.
func (w *writer) runAlone(ctx context.Context, do func(*tx) error) error {
	return w.submit(ctx, &operation{do: do, alone: true, settled: make(chan struct{})})
}

func (w *writer) submit(ctx context.Context, o *operation) error {
	if err := w.enqueue(ctx, o); err != nil {
		return err
	}
	select {
	case <-o.settled:
	case <-ctx.Done():
		if o.state.CompareAndSwap(waiting, withdrawn) {
			return ctx.Err()
		}
		<-o.settled
	}
	return o.result
}

func (w *writer) enqueue(ctx context.Context, o *operation) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return errClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case w.queue <- o:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close lets the operations already queued finish and ends the goroutine. The connection stays open.
func (w *writer) close() {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
	w.mu.Unlock()
	<-w.ended
}

func (w *writer) loop() {
	defer close(w.ended)
	for o := range w.queue {
		for o != nil {
			if o.alone {
				if o.begin() {
					o.settle(o.do(&tx{w: w, now: w.clock.now()}))
				}
				o = nil
			} else {
				o = w.transaction(o)
			}
		}
	}
}

// transaction runs first and whatever else waits, commits and answers. It returns an operation it took from
// the queue but could not take in.
func (w *writer) transaction(first *operation) (next *operation) {
	if err := w.begin(); err != nil {
		return w.refuse(first, err)
	}
	var group []*operation
	broken := error(nil)
	started := time.Now()
	for o := first; o != nil; o = w.poll() {
		if o.alone {
			next = o
			break
		}
		if !o.begin() {
			continue
		}
		group = append(group, o)
		if o.result, broken = w.inSavepoint(o); broken != nil {
			break
		}
		if len(group) == groupMax || time.Since(started) > groupTime {
			break
		}
	}
	if broken == nil {
		broken = w.commit()
	}
	if broken != nil {
		_ = w.exec("ROLLBACK") // SQLite may have rolled back by itself
	}
	for i, o := range group {
		switch {
		case broken != nil && isRowFault(broken) && i < len(group)-1:
			o.result = w.again(o) // a row of the last one undid it
		case broken != nil:
			o.result = broken
		}
		o.settle(o.result)
	}
	return next
}

// again runs an operation in a transaction of its own, because another one undid the transaction that it was in.
func (w *writer) again(o *operation) error {
	if err := w.begin(); err != nil {
		return err
	}
	result, broken := w.inSavepoint(o)
	if broken == nil {
		broken = w.commit()
	}
	if broken != nil {
		_ = w.exec("ROLLBACK")
		return broken
	}
	return result
}

// refuse answers first and whatever else waits with the error that kept a transaction from beginning: where
// someone outside holds the file, each would only have waited as long for the same answer.
func (w *writer) refuse(first *operation, err error) (next *operation) {
	var group []*operation
	for o := first; o != nil && next == nil; o = w.poll() {
		if o.alone {
			next = o
		} else if o.begin() {
			group = append(group, o)
		}
	}
	for _, o := range group {
		o.settle(err)
	}
	return next
}

// poll returns an operation that waits, or nil. Callers that were just answered get one chance to come back.
func (w *writer) poll() *operation {
	for range 2 {
		select {
		case o := <-w.queue:
			return o
		default:
			runtime.Gosched()
		}
	}
	return nil
}

// inSavepoint runs one operation. broken means that the transaction as a whole cannot go on: the disk is
// full, or it failed.
func (w *writer) inSavepoint(o *operation) (result, broken error) {
	if err := w.exec("SAVEPOINT operation"); err != nil {
		return err, err
	}
	t := &tx{w: w, now: w.clock.now()}
	if result = o.do(t); result == nil {
		result = t.noteFailures()
	}
	if result != nil {
		if err := w.exec("ROLLBACK TO operation"); err != nil || undoes(result) {
			return result, fmt.Errorf("%w: its transaction was undone", result)
		}
	}
	if err := w.exec("RELEASE operation"); err != nil {
		return err, err
	}
	return result, nil
}

// begin begins a transaction, in the file that was opened or not at all.
func (w *writer) begin() error {
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := w.place.check()
	if err != nil {
		_ = w.exec("ROLLBACK")
	}
	return err
}

// commit saves the id counter beside the rows that used it, so that no id is given out twice even when
// those rows are long gone.
func (w *writer) commit() error {
	saved := w.nextID
	if saved != w.savedID {
		if _, err := w.conn.exec(context.Background(), "set_meta", "next_id", saved); err != nil {
			return err
		}
		if saved > w.ids.upTo {
			if err := w.ids.extend(saved + idBlock); err != nil {
				return err
			}
		}
	}
	if err := w.ids.keep(context.Background(), w.conn); err != nil {
		return err
	}
	if err := w.exec("COMMIT"); err != nil {
		return err
	}
	w.savedID, w.ids.kept = saved, w.ids.generation
	w.commits.Add(1)
	return w.place.check() // or what was committed is already out of reach
}

func (w *writer) exec(text string) error {
	_, err := w.conn.exec(context.Background(), text)
	return err
}
