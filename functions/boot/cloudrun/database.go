package cloudrun

import (
	"context"

	"github.com/belfry-dev/belfry/adapters/gcp"
	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/functions/boot"
)

// databaseOptions says how the store connects. What it returns beside them, if anything, is closed after the store.
func databaseOptions(ctx context.Context, s boot.Settings) (postgres.Options, func() error, error) {
	o := postgres.Options{PoolSize: s.DatabasePool}
	if s.CloudSQLInstance == "" {
		return o, nil, nil
	}
	connector, err := gcp.OpenCloudSQL(ctx, s.CloudSQLInstance, gcp.CloudSQLOptions{IAM: s.CloudSQLIAM, IP: s.CloudSQLIP})
	if err != nil {
		return o, nil, err
	}
	o.Dial, o.ConnectTimeout = connector.Dial, gcp.DialTimeout
	return o, connector.Close, nil
}
