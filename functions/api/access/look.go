package access

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

const (
	maxLook      = 1000                   // ids that one statement looks up
	strangerBeat = 100 * time.Millisecond // between look-ups for addresses that try unknown tokens
)

// look is one id that is being looked up.
type look struct {
	done     chan struct{} // closed once token and err are known
	token    core.Token
	err      error // core.ErrNotFound: there is none
	outdated bool  // the token has changed since: the answer is not remembered
}

// looks looks tokens up by their ids. All that are asked for while it is at work it looks up next, together: one statement
// runs at a time, however many callers wait.
type looks struct {
	store    core.AccessStore
	beat     time.Duration                                 // from one look-up to the next. Zero means at once
	remember func(id string, token core.Token, found bool) // is told of answers before those who wait

	mu      sync.Mutex
	waiting map[string]*look // for the next look-up
	flying  map[string]*look // in this one
	running bool
}

func newLooks(store core.AccessStore, beat time.Duration, remember func(string, core.Token, bool)) *looks {
	return &looks{store: store, beat: beat, remember: remember, waiting: map[string]*look{}}
}

// find returns the token of an id. When ctx ends first the caller stops waiting. core.ErrNotFound: there is none.
func (l *looks) find(ctx context.Context, id string) (core.Token, error) {
	one := l.join(id)
	select {
	case <-one.done:
		return one.token, one.err
	case <-ctx.Done():
		return core.Token{}, context.Cause(ctx)
	}
}

func (l *looks) join(id string) *look {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.flying[id]; one != nil && !one.outdated {
		return one
	}
	one := l.waiting[id]
	if one == nil {
		one = &look{done: make(chan struct{})}
		l.waiting[id] = one
	}
	if !l.running {
		l.running = true
		go l.run()
	}
	return one
}

// forget has those who ask from now on not be answered by what is being looked up already.
func (l *looks) forget(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.flying[id]; one != nil {
		one.outdated = true
	}
}

// run looks up what waits until nothing does.
func (l *looks) run() {
	for l.takeOff() {
		began := time.Now()
		l.lookUp()
		time.Sleep(l.beat - time.Since(began))
	}
}

// takeOff takes all that waits. It decides under the lock that there is nothing and run ends, so that one who comes now
// finds either this run or none.
func (l *looks) takeOff() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flying, l.waiting = l.waiting, map[string]*look{}
	l.running = len(l.flying) > 0
	return l.running
}

// lookUp answers those who wait for what flies.
func (l *looks) lookUp() {
	for ids := range slices.Chunk(slices.Collect(maps.Keys(l.flying)), maxLook) {
		ctx, cancel := context.WithTimeout(context.Background(), tokenTime)
		tokens, err := l.store.FindTokens(ctx, ids)
		cancel()
		l.land(ids, tokens, err)
	}
}

// land answers those who wait for ids.
func (l *looks) land(ids []string, tokens []core.Token, err error) {
	found := make(map[string]core.Token, len(tokens))
	for _, t := range tokens {
		found[t.ID] = t
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		one := l.flying[id]
		var ok bool
		if one.token, ok = found[id]; err != nil {
			one.err = err
		} else if !ok {
			one.err = core.ErrNotFound
		}
		if err == nil && !one.outdated {
			l.remember(id, one.token, ok)
		}
		close(one.done)
		delete(l.flying, id)
	}
}
