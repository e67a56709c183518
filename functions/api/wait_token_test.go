package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api"
)

// TestWaitEndsWithItsToken: a call that waits is refused once its token is revoked, here or by another process, or has
// expired; where anyone may call, once there is a token. A wait with another token goes on.
func TestWaitEndsWithItsToken(t *testing.T) {
	clock := &clock{}
	b := newBench(t, func(o *api.Options) { o.Now = clock.now })
	b.submit(`{"type":"later","delay":"1h"}`)
	wait := func(token string) <-chan int {
		done := make(chan int, 1)
		header := []string{}
		if token != "" {
			header = []string{"Authorization", "Bearer " + token}
		}
		go func() { done <- b.raw("GET", "/v1/jobs/1?wait=60s", "", header...).Code }()
		return done
	}
	ends := func(what string, done <-chan int) {
		t.Helper()
		select {
		case code := <-done:
			if code != http.StatusUnauthorized {
				t.Errorf("%s: %d", what, code)
			}
		case <-time.After(30 * time.Second): // half of what it waits for
			t.Errorf("%s: it waits on", what)
		}
	}
	anyone := wait("")
	good := b.keep(core.Token{Role: core.RoleRead})
	clock.advance(10 * time.Second) // what is remembered grows old
	ends("whoever needed no token", anyone)

	revoked, expires := b.keep(core.Token{Role: core.RoleRead}), b.keep(core.Token{Role: core.RoleRead, ExpiresAt: clock.now().Add(time.Minute)})
	first, second, third := wait(revoked), wait(expires), wait(good)
	waitUntil(t, "three wait", func() bool { return b.api.Waiting() == 3 })
	id, _, _ := core.ParseToken(revoked)
	if err := b.store.RevokeToken(context.WithoutCancel(t.Context()), id); err != nil {
		t.Fatal(err)
	}
	clock.advance(6 * time.Second)
	ends("revoked by another process", first)
	clock.advance(time.Minute)
	ends("expired", second)
	id, _, _ = core.ParseToken(good)
	admin := b.keep(core.Token{Role: core.RoleAdmin})
	select {
	case code := <-third:
		t.Errorf("a good token's wait ended with %d", code)
	default:
	}
	b.as(admin, "DELETE", "/v1/tokens/"+id, "").want(t, http.StatusNoContent)
	ends("revoked here", third)
}

// waitUntil waits for a condition.
func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
