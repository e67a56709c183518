package postgres

import (
	"context"
	"sync"
)

// share says which of the connections a call may use.
type share int8

const (
	engineShare share = iota // ticks, leases, claims, finishes: whatever is free, and always some of their own
	readShare                // calls of users that only read
	changeShare              // calls of users that write, and may meet a lock that a stranger holds
	probeShare               // readiness: one at a time, among the engine's
)

// shares divide the connections of a pool. Each call of a user needs a place; there are fewer places than connections,
// so that however many users call, and whatever they wait for, the engine and readiness find a connection.
type shares struct {
	users   slots // calls of users: all connections, but for the engine's own once there is an engine
	changes slots // of these, calls that write
	lookers slots // calls that look again after a lock that they met; see locks.go
	probes  slots

	engine  sync.Once // has begun to use this store
	reserve int
}

func newShares(connections int) *shares {
	reserve, readers := 0, 0
	if connections > 1 {
		reserve, readers = max(1, connections/4), max(1, connections/12)
	}
	return &shares{
		users: make(slots, connections), changes: make(slots, max(1, connections-readers)),
		lookers: make(slots, max(1, connections/6)), probes: make(slots, 1), reserve: reserve,
	}
}

// enter takes a place, and waits for one until ctx ends.
func (sh *shares) enter(ctx context.Context, of share) error {
	switch of {
	case engineShare:
		sh.engine.Do(sh.keepShare)
		return nil
	case probeShare:
		return sh.probes.take(ctx)
	case readShare:
		return sh.users.take(ctx)
	}
	if err := sh.changes.take(ctx); err != nil {
		return err
	}
	if err := sh.users.take(ctx); err != nil {
		sh.changes.leave()
		return err
	}
	return nil
}

// leave gives back the place that enter took.
func (sh *shares) leave(of share) {
	switch of {
	case engineShare:
	case probeShare:
		sh.probes.leave()
	case readShare:
		sh.users.leave()
	case changeShare:
		sh.users.leave()
		sh.changes.leave()
	}
}

// keepShare takes the engine's share from the users, as soon as they let go of it, and for good. At least one place of
// each kind is left.
func (sh *shares) keepShare() {
	for _, s := range []slots{sh.changes, sh.users} {
		for range min(sh.reserve, cap(s)-1) {
			select {
			case s <- struct{}{}:
			default:
				go func() { s <- struct{}{} }()
			}
		}
	}
}

// slots are places for so many calls at a time.
type slots chan struct{}

// take takes a place, and waits for one until ctx ends.
func (s slots) take(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	default:
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s slots) leave() { <-s }
