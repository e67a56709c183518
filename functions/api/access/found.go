package access

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/belfry-dev/belfry/core"
)

const (
	tokenMemory    = 5 * time.Second // a revoked token may go on this long in a process that knows it
	tokenTime      = 5 * time.Second // for one look into the store
	tokensKnown    = 10_000          // found and unknown ids each, at most
	unknownAllowed = 200             // unknown ids a second that one address may try before it is looked up for at leisure
	unknownAtOnce  = 400
)

// foundTokens are the store's tokens as far as they were asked for lately, and ids that it did not have. It is as
// small under a flood of made-up tokens as without. Nobody is refused for the sake of such a flood: look-ups are made
// together, and those for addresses that try unknown tokens apart from the others and less often.
type foundTokens struct {
	now       func() time.Time
	store     core.AccessStore
	looks     *looks // for whoever has not tried too many unknown tokens
	leisurely *looks // for the others
	strangers *rates // unknown tokens by address
	turns     singleflight.Group

	mu      sync.Mutex
	known   map[string]knownToken
	unknown map[string]time.Time // until when
	any     bool                 // there are tokens
	anyTill time.Time
}

type knownToken struct {
	core.Token
	until time.Time
}

func newFoundTokens(store core.AccessStore, now func() time.Time) *foundTokens {
	f := &foundTokens{store: store, now: now, strangers: newRates(unknownAllowed, unknownAtOnce), known: map[string]knownToken{}, unknown: map[string]time.Time{}}
	f.looks, f.leisurely = newLooks(store, 0, f.remember), newLooks(store, strangerBeat, f.remember)
	return f
}

// find returns the token of an id that came from an address, at most tokenMemory old. core.ErrNotFound: there is none.
func (f *foundTokens) find(ctx context.Context, id, address string) (core.Token, error) {
	now := f.now()
	f.mu.Lock()
	known, seen := f.known[id]
	gone := now.Before(f.unknown[id])
	f.mu.Unlock()
	switch {
	case seen && now.Before(known.until):
		return known.Token, nil
	case gone:
		return core.Token{}, core.ErrNotFound
	case seen:
		return f.looks.find(ctx, id)
	}
	stranger, by := f.strangers.of(address), f.looks
	if stranger.TokensAt(now) < 1 {
		by = f.leisurely
	}
	token, err := by.find(ctx, id)
	if errors.Is(err, core.ErrNotFound) {
		stranger.AllowN(now, 1)
	}
	return token, err
}

func (f *foundTokens) remember(id string, token core.Token, there bool) {
	until := f.now().Add(tokenMemory)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.known, id)
	delete(f.unknown, id)
	if there {
		makeRoom(f.known)
		f.known[id] = knownToken{token, until}
	} else {
		makeRoom(f.unknown)
		f.unknown[id] = until
	}
}

// makeRoom drops a tenth of a full map, whichever: what is asked for again is looked up again.
func makeRoom[T any](m map[string]T) {
	if len(m) < tokensKnown {
		return
	}
	dropped := 0
	for id := range m {
		delete(m, id)
		if dropped++; dropped == tokensKnown/10 {
			return
		}
	}
}

// some reports whether the store has tokens, at most tokenMemory ago.
func (f *foundTokens) some(ctx context.Context) (bool, error) {
	now := f.now()
	f.mu.Lock()
	some, fresh := f.any, now.Before(f.anyTill)
	f.mu.Unlock()
	if fresh {
		return some, nil
	}
	found, err, _ := f.turns.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tokenTime)
		defer cancel()
		tokens, err := f.store.ListTokens(ctx, "", 1)
		return len(tokens) > 0, err
	})
	if err != nil {
		return false, err
	}
	some, _ = found.(bool)
	f.mu.Lock()
	f.any, f.anyTill = some, now.Add(tokenMemory)
	f.mu.Unlock()
	return some, nil
}

// forget makes a change to the tokens known here at once: elsewhere it is within tokenMemory.
func (f *foundTokens) forget(id string) {
	f.looks.forget(id)
	f.leisurely.forget(id)
	f.turns.Forget("")
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.known, id)
	delete(f.unknown, id)
	f.anyTill = time.Time{}
}
