package work

import (
	"context"
	"fmt"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Announcer says in the store that workers of one process are there and what they handle, at least every PresenceEvery
// while they say so, by one statement. Where a process makes a worker for each call it is given, as functions do, they share
// one. Safe for concurrent use.
type Announcer struct {
	store announceStore
	who   core.Presence
	turn  chan struct{} // one call at a time; taken by sending
	told  core.Presence // guarded by turn, as what follows
	at    time.Time     // when that was; zero: never
	gone  bool
	seen  strays
}

// slotsLook is how often a worker looks whether it should say that its slots have filled up or emptied.
const slotsLook = 5 * time.Second

type announceStore interface {
	Announce(ctx context.Context, p core.Presence) error
	Withdraw(ctx context.Context, id string) error
}

// NewAnnouncer returns an Announcer of who: its ID, Host, Version and Function. A function's ID names all its instances;
// the types that they handle are added to it, so that two versions of one function are told apart.
func NewAnnouncer(store core.WorkStore, who core.Presence) *Announcer {
	return &Announcer{store: store, who: who, turn: make(chan struct{}, 1)}
}

// due reports whether it is time to say so again. By the wall clock: the other one stands still while a function is frozen.
func (a *Announcer) due(now time.Time) bool {
	select {
	case a.turn <- struct{}{}:
	default:
		return false // someone is at it
	}
	defer func() { <-a.turn }()
	return !a.gone && a.old(now)
}

// next is how long it is until it is time to say so again, or to look whether the slots have filled up or emptied.
func (a *Announcer) next(now time.Time) time.Duration {
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	return min(max(core.PresenceEvery-now.Round(0).Sub(a.at.Round(0)).Abs(), 0), slotsLook)
}

func (a *Announcer) old(now time.Time) bool {
	return a.at.IsZero() || now.Round(0).Sub(a.at.Round(0)).Abs() >= core.PresenceEvery
}

// announce says what the worker handles and how busy it is, if that is new or was said long ago, or always.
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

// withdraw says that the worker is gone, for good. A function stays.
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
	_ = a.store.Withdraw(ctx, a.who.ID) // else it ages
}
