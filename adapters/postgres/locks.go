package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// A call that meets a lock of someone else's does not keep its connection while it waits. It lets go of it and looks again
// after a pause. Calls that wait for the same thing look one at a time, and there is a bound to how many look at all.
const (
	glanceWait      = 25 * time.Millisecond  // how long a user's statement waits for a lock: others' commits take less
	sessionLockWait = 100 * time.Millisecond // and one that meets no rows of others, but the server's own locks
	lookPause       = 20 * time.Millisecond  // before it looks again, doubling
	lookPauseMax    = 160 * time.Millisecond
)

// locks remembers what calls of this process wait for.
type locks struct {
	mu      sync.Mutex
	waiting map[string]*waited
}

// waited is something that one or more calls wait for.
type waited struct {
	calls int
	turn  slots // of the one call that looks
}

// errStillLocked is the answer to a call whose patience is over.
var errStillLocked = fmt.Errorf("%w, still", core.ErrBusy)

// patiently runs try, and again while it does not get its locks, for at most the lock timeout. subject is what calls that
// wait for the same lock have in common; "" has nothing in common with any other.
func (s *Store) patiently(ctx context.Context, subject string, try func() error) error {
	if subject == "" || !s.locks.waitedFor(subject) {
		if err := try(); !hasCode(err, codeLockNotAvailable) {
			return err
		}
	}
	w := s.locks.join(subject)
	defer s.locks.leave(subject, w)
	patience, cancel := context.WithTimeoutCause(ctx, s.opts.LockTimeout, errStillLocked)
	defer cancel()
	if err := w.turn.take(patience); err != nil {
		return err
	}
	defer w.turn.leave()
	for wait := lookPause; ; wait = min(2*wait, lookPauseMax) {
		if err := s.look(patience, try); !hasCode(err, codeLockNotAvailable) {
			return err
		}
		if pause(patience, wait/2+rand.N(wait/2)) != nil {
			return context.Cause(patience)
		}
	}
}

// look tries once, as one of the few that do.
func (s *Store) look(patience context.Context, try func() error) error {
	if err := s.shares.lookers.take(patience); err != nil {
		return err
	}
	defer s.shares.lookers.leave()
	return try()
}

// join makes a call one of those that wait for a thing.
func (l *locks) join(subject string) *waited {
	if subject == "" {
		return &waited{turn: make(slots, 1)}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.waiting[subject]
	if w == nil {
		if l.waiting == nil {
			l.waiting = map[string]*waited{}
		}
		w = &waited{turn: make(slots, 1)}
		l.waiting[subject] = w
	}
	w.calls++
	return w
}

func (l *locks) leave(subject string, w *waited) {
	if subject == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.calls--; w.calls == 0 {
		delete(l.waiting, subject)
	}
}

// waitedFor reports whether calls wait for the thing already.
func (l *locks) waitedFor(subject string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting[subject] != nil
}
