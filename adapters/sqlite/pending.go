package sqlite

import (
	"context"

	"github.com/belfry-dev/belfry/core"
)

func (s *Store) DeadGroups(context.Context, core.DeadQuery, int) ([]core.DeadGroup, error) {
	return nil, errPending
}
func (s *Store) StatsOf(context.Context, string) (core.Stats, error) { return core.Stats{}, errPending }
