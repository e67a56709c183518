package postgres_test

import (
	"testing"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// A token that somebody has end at minus infinity, or in the first year, has ended. One without an end goes on.
func TestTokensThatEndedLongAgo(t *testing.T) {
	address := migrated(t)
	store, admin := open(t, address), connect(t, address)
	for id, expires := range map[string]string{"a": "'-infinity'", "b": "'0001-01-01 00:00:00+00'", "c": "'4000-01-01 00:00:00+00 BC'", "d": "'infinity'", "e": "NULL"} {
		if _, err := store.CreateToken(t.Context(), core.Token{ID: id, Name: id, Role: core.RoleRead}); err != nil {
			t.Fatal(err)
		}
		script(t, admin, "UPDATE belfry.tokens SET expires_at = "+expires+" WHERE id = '"+id+"'")
		tokens, err := store.FindTokens(t.Context(), []string{id})
		if err != nil || len(tokens) != 1 {
			t.Fatal(tokens, err)
		}
		if ended := id < "d"; tokens[0].Expired(time.Now()) != ended {
			t.Errorf("%s: ended: %v; %s", expires, !ended, tokens[0].ExpiresAt)
		}
	}
}
