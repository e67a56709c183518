package cloudrun

import (
	"context"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/functions/boot"
)

// databaseOptions says how the store connects. What it returns beside them, if anything, is closed after the store.
func databaseOptions(_ context.Context, s boot.Settings) (postgres.Options, func() error, error) {
	return postgres.Options{PoolSize: s.DatabasePool}, nil, nil
}
