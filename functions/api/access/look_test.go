package access

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// tokenTable answers look-ups after a while.
type tokenTable struct {
	core.AccessStore
	takes time.Duration

	mu    sync.Mutex
	known map[string]core.Token
	asked []int // ids of each look-up
	fails error
}

func (s *tokenTable) FindTokens(_ context.Context, ids []string) (tokens []core.Token, err error) {
	s.mu.Lock()
	s.asked = append(s.asked, len(ids))
	for _, id := range ids {
		if t, ok := s.known[id]; ok {
			tokens = append(tokens, t)
		}
	}
	fails := s.fails
	s.mu.Unlock()
	time.Sleep(s.takes) // after the rows were read
	return tokens, fails
}

func newTokenTable(takes time.Duration, n int) *tokenTable {
	s := &tokenTable{takes: takes, known: map[string]core.Token{}}
	for i := range n {
		id := fmt.Sprint("good", i)
		s.known[id] = core.Token{ID: id, Role: core.RoleRead}
	}
	return s
}

// finding looks ids up at once, from an address, and counts what came back without an error.
func finding(f *foundTokens, address, kind string, n int) (found chan int) {
	found = make(chan int, 1)
	go func() {
		var group sync.WaitGroup
		results := make([]bool, n)
		for i := range n {
			group.Go(func() {
				t, err := f.find(context.Background(), fmt.Sprint(kind, i), address)
				results[i] = err == nil && t.ID != ""
			})
		}
		group.Wait()
		count := 0
		for _, ok := range results {
			if ok {
				count++
			}
		}
		found <- count
	}()
	return found
}

// TestLookUpsAreMadeTogether: what is asked for while one statement is at work is asked for by the next.
func TestLookUpsAreMadeTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newTokenTable(time.Millisecond, 5000)
		f := newFoundTokens(store, time.Now)
		start := time.Now()
		if n := <-finding(f, "address a", "good", 5000); n != 5000 {
			t.Errorf("%d of 5000 were found", n)
		}
		sum := 0
		for _, n := range store.asked {
			if sum += n; n > maxLook {
				t.Errorf("one statement looks %d ids up", n)
			}
		}
		if len(store.asked) > 10 || sum != 5000 || time.Since(start) > 10*time.Millisecond {
			t.Errorf("%d statements for %d ids in %s", len(store.asked), sum, time.Since(start))
		}
	})
}

// TestStrangersAreCharged: an address that tries too many unknown tokens is looked up for at its own, slower beat; no other
// address waits for it, and it is forgiven within seconds. Whom it shares its address with is served all the same.
func TestStrangersAreCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newTokenTable(time.Millisecond, 100)
		f := newFoundTokens(store, time.Now)
		<-finding(f, "address of strangers", "bad", 1000)
		late := func(address, kind string) time.Duration {
			start := time.Now()
			if _, err := f.find(t.Context(), kind, address); (err == nil) != (kind[0] == 'g') {
				t.Errorf("%s: %v", kind, err)
			}
			return time.Since(start)
		}
		start := time.Now()
		for i := range 10 {
			<-finding(f, "address of strangers", fmt.Sprint("more bad ", i), 100)
			if d := late("address of others", fmt.Sprint("good", i)); d > 2*time.Millisecond {
				t.Errorf("another address waits %s", d)
			}
		}
		if d := time.Since(start); d < 3*strangerBeat {
			t.Errorf("2,000 unknown tokens are answered within %s", d)
		}
		<-finding(f, "address of strangers", "still more bad ", 100)
		if d := late("address of strangers", "good50"); d > 2*strangerBeat {
			t.Errorf("who shares the strangers' address waits %s", d)
		}
		time.Sleep(3 * time.Second)
		if d := late("address of strangers", "good60"); d > 2*time.Millisecond {
			t.Errorf("not forgiven: %s", d)
		}
	})
}

// TestAChangeOutdatesALookUp: what a look-up read before a token was revoked here is not remembered.
func TestAChangeOutdatesALookUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newTokenTable(time.Second, 1)
		f := newFoundTokens(store, time.Now)
		first := finding(f, "address a", "good", 1)
		time.Sleep(time.Second / 2)
		store.mu.Lock()
		delete(store.known, "good0")
		store.mu.Unlock()
		f.forget("good0")
		after := finding(f, "address a", "good", 1)
		if n := <-first; n != 1 {
			t.Error("the call that came before was refused")
		}
		if n := <-after; n != 0 {
			t.Error("a call that came after the change was let in")
		}
		if _, err := f.find(t.Context(), "good0", "address a"); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("it was remembered: %v", err)
		}
	})
}

// TestLookUpThatFails: those who wait hear of it, those who come next ask again, and who has gone does not wait.
func TestLookUpThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newTokenTable(time.Second, 1)
		store.fails = core.ErrUnavailable
		f := newFoundTokens(store, time.Now)
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := f.find(short, "good0", "address a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who has no time: %v", err)
		}
		if _, err := f.find(t.Context(), "good0", "address a"); !errors.Is(err, core.ErrUnavailable) {
			t.Errorf("while the store fails: %v", err)
		}
		store.mu.Lock()
		store.fails = nil
		store.mu.Unlock()
		if _, err := f.find(t.Context(), "good0", "address a"); err != nil {
			t.Errorf("once it is back: %v", err)
		}
	})
}

// TestFoundTokensStaySmall: however many ids are tried, what is remembered of them is bounded, and so is what gets
// through to the store.
func TestFoundTokensStaySmall(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	f := newFoundTokens(newTokenTable(0, 0), func() time.Time { return now })
	for i := range 3 * tokensKnown {
		f.remember("unknown"+strconv.Itoa(i), core.Token{}, false)
		f.remember("known"+strconv.Itoa(i), core.Token{}, true)
	}
	if len(f.known) > tokensKnown || len(f.unknown) > tokensKnown || len(f.known) < tokensKnown/2 {
		t.Errorf("%d known and %d unknown ids are kept", len(f.known), len(f.unknown))
	}
	rates := newRates(1, 1)
	for i := range 3 * ratesKnown {
		if p := rates.take(strconv.Itoa(i), now); p != nil {
			t.Fatal(p)
		}
	}
	if len(rates.byName) != ratesKnown || rates.order.Len() != ratesKnown {
		t.Errorf("%d callers are counted", len(rates.byName))
	}
	if rates.take(strconv.Itoa(3*ratesKnown-1), now) == nil || rates.take("0", now) != nil {
		t.Error("the caller that was heard of last must be the one remembered")
	}
}
