package postgres

import (
	"context"

	"github.com/belfry-dev/belfry/core"
)

func (s *Store) SubmitOnce(context.Context, core.IdempotencyKey, []core.NewJob, func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	return core.Once{}, errPending
}

func (s *Store) CreateToken(context.Context, core.Token) (core.Token, error) {
	return core.Token{}, errPending
}
func (s *Store) FindToken(context.Context, string) (core.Token, error) {
	return core.Token{}, errPending
}
func (s *Store) ListTokens(context.Context, string, int) ([]core.Token, error) {
	return nil, errPending
}
func (s *Store) RevokeToken(context.Context, string) error { return errPending }

func (s *Store) DeadGroups(context.Context, core.DeadQuery, int) ([]core.DeadGroup, error) {
	return nil, errPending
}
func (s *Store) StatsOf(context.Context, string) (core.Stats, error) { return core.Stats{}, errPending }
