package work

import (
	"context"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Announcer announces the workers of one process in the store, with what they handle, at least every PresenceEvery, by one
// statement. A process that makes a worker for each call, as functions do, shares one Announcer. Safe for concurrent use.
type Announcer struct {
	store announceStore
	who   core.Presence
	turn  chan struct{} // one call at a time; taken by sending
	told  core.Presence // guarded by turn, like the next fields
	at    time.Time     // when it was announced; zero: never
	gone  bool
	seen  strays
}

// slotsLook is how often a worker checks whether its slots have filled up or emptied, which it announces.
const slotsLook = 5 * time.Second

type announceStore interface {
	Announce(ctx context.Context, p core.Presence) error
	Withdraw(ctx context.Context, id string) error
}

// NewAnnouncer returns an Announcer for who: its ID, Host, Version and Function. A function's ID names all its instances.
// Their types are added to the ID, so that two versions of one function have different IDs.
func NewAnnouncer(store core.WorkStore, who core.Presence) *Announcer {
	return &Announcer{store: store, who: who, turn: make(chan struct{}, 1)}
}

// due reports whether it is time to announce again. It uses the wall clock, because the monotonic clock stops while a
// function is frozen.
func (a *Announcer) due(now time.Time) bool {
	select {
	case a.turn <- struct{}{}:
	default:
		return false // another call is announcing
	}
	defer func() { <-a.turn }()
	return !a.gone && a.old(now)
}

// next returns the time until the next announcement, or the next look at the slots.
func (a *Announcer) next(now time.Time) time.Duration {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	return min(max(core.PresenceEvery-now.Round(0).Sub(a.at.Round(0)).Abs(), 0), slotsLook)
}

func (a *Announcer) old(now time.Time) bool {
	return a.at.IsZero() || now.Round(0).Sub(a.at.Round(0)).Abs() >= core.PresenceEvery
}

// announce announces what the worker handles and how busy it is, if that has changed or the last announcement is old, or
// always.
func (a *Announcer) announce(ctx context.Context, p core.Presence, always bool) error {
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-a.turn }()
	now := time.Now()
	if a.gone || !always && !a.old(now) && a.told.SameTypes(p) && a.told.NearlyFull() == p.NearlyFull() {
		return nil
	}
	p.ID, p.Host, p.Version, p.Function = a.who.ID, a.who.Host, a.who.Version, a.who.Function
	if p.Function {
		p.ID += "/" + p.TypesKey()
	}
	if err := a.store.Announce(ctx, p); err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	a.told, a.at = p, now
	return nil
}

// withdraw records that the worker has gone. A function stays announced.
func (a *Announcer) withdraw(ctx context.Context) {
	if a.who.Function {
		return
	}
	select {
	case a.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-a.turn }()
	a.gone = true
	_ = a.store.Withdraw(ctx, a.who.ID) // on an error the announcement expires
}
