package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/belfry-dev/belfry/core"
)

// CreateToken keeps a token.
func (s *Store) CreateToken(ctx context.Context, token core.Token) (core.Token, error) {
	err := s.writer.run(ctx, func(t *tx) error {
		n, err := t.exec("create_token", token.ID, token.Name, token.Hash[:], string(token.Role), token.Tenant, t.now, timeOrNull(token.ExpiresAt))
		if err == nil && n == 0 {
			err = core.ErrConflict
		}
		token.CreatedAt = instant(t.now)
		return err
	})
	if err != nil {
		return core.Token{}, wrap("create token", err)
	}
	return token, nil
}

// FindTokens returns tokens by their ids.
func (s *Store) FindTokens(ctx context.Context, ids []string) ([]core.Token, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("sqlite: find tokens: %w", err)
	}
	tokens, err := s.tokens(ctx, "find_tokens", string(list))
	return tokens, wrap("find tokens", err)
}

// ListTokens returns tokens by id.
func (s *Store) ListTokens(ctx context.Context, after string, limit int) ([]core.Token, error) {
	tokens, err := s.tokens(ctx, "list_tokens", after, limit)
	return tokens, wrap("list tokens", err)
}

func (s *Store) tokens(ctx context.Context, name string, args ...any) (tokens []core.Token, err error) {
	err = s.readers.read(ctx, func(c *conn) error {
		return c.query(ctx, name, func(r row) error {
			tokens = append(tokens, r.token())
			return nil
		}, args...)
	})
	return tokens, err
}

// RevokeToken removes a token.
func (s *Store) RevokeToken(ctx context.Context, id string) error {
	return wrap("revoke token", s.writer.run(ctx, func(t *tx) error {
		n, err := t.exec("revoke_token", id)
		if err == nil && n == 0 {
			err = core.ErrNotFound
		}
		return err
	}))
}

// token reads a row of tokens. One whose hash someone damaged by hand allows nothing.
func (r row) token() core.Token {
	t := core.Token{ID: r.text(0), Name: r.text(1), Role: core.Role(r.text(3)), Tenant: r.text(4), CreatedAt: r.time(5), ExpiresAt: r.time(6)}
	hash, _ := r[2].([]byte)
	if len(hash) != len(t.Hash) {
		t.Role = ""
	}
	copy(t.Hash[:], hash)
	return t
}
