package postgres

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// CreateToken keeps a token; see core.AccessStore.
func (s *Store) CreateToken(ctx context.Context, t core.Token) (kept core.Token, err error) {
	s.serves.Store(true)
	a := s.args(6).Text(t.ID).Text(t.Name).Bytes(t.Hash[:]).Text(string(t.Role)).Text(t.Tenant).Time(t.ExpiresAt)
	err = s.write(ctx, "create token", "", s.guard(glanceWait), s.sql.call("create_token", a, func(r wire.Row) error {
		kept = tokenOf(r)
		return nil
	}))
	if err == nil && kept.ID == "" {
		err = wrap("create token", core.ErrConflict)
	}
	return kept, err
}

// FindTokens returns tokens by their ids.
func (s *Store) FindTokens(ctx context.Context, ids []string) (tokens []core.Token, err error) {
	s.serves.Store(true)
	err = s.read(ctx, "find tokens", s.guard(glanceWait), s.sql.call("find_tokens", wire.Texts(wire.NewArgs(1), ids, func(id *string) string { return *id }), func(r wire.Row) error {
		tokens = append(tokens, tokenOf(r))
		return nil
	}))
	return tokens, err
}

// ListTokens returns tokens by id.
func (s *Store) ListTokens(ctx context.Context, after string, limit int) (tokens []core.Token, err error) {
	s.serves.Store(true)
	a := wire.NewArgs(2).Text(after).Int8(int64(limit))
	err = s.read(ctx, "list tokens", s.guard(glanceWait), s.sql.call("list_tokens", a, func(r wire.Row) error {
		tokens = append(tokens, tokenOf(r))
		return nil
	}))
	return tokens, err
}

// RevokeToken removes a token.
func (s *Store) RevokeToken(ctx context.Context, id string) error {
	s.serves.Store(true)
	found := false
	err := s.write(ctx, "revoke token", "token "+id, s.guard(glanceWait), s.sql.call("revoke_token", wire.NewArgs(1).Text(id), func(wire.Row) error {
		found = true
		return nil
	}))
	if err == nil && !found {
		err = wrap("revoke token", core.ErrNotFound)
	}
	return err
}

// tokenOf reads a row of belfry.tokens. A hash that someone damaged by hand matches no token.
func tokenOf(r wire.Row) core.Token {
	t := core.Token{ID: r.Text(0), Name: r.Text(1), Role: core.Role(r.Text(3)), Tenant: r.Text(4), CreatedAt: r.Time(5), ExpiresAt: r.Time(6)}
	if !r.Null(6) && t.ExpiresAt.IsZero() {
		t.ExpiresAt = time.Unix(0, 0).UTC() // minus infinity, which is not "never"
	}
	if hash := r.Bytes(2); len(hash) == len(t.Hash) {
		copy(t.Hash[:], hash)
	} else {
		t.Role = "" // allows nothing
	}
	return t
}
