package postgres

import (
	"context"
	"encoding/hex"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
)

// Secret returns the installation's secret of that name; see core.TypeStore. If several callers race, the first one's
// bytes are kept and the others return those.
func (s *Store) Secret(ctx context.Context, name string, fresh []byte) (value []byte, err error) {
	err = s.repeat(ctx, "secret", s.guard(s.opts.LockTimeout),
		s.sql.call("keep_secret", wire.NewArgs(2).Text(name).Text(hex.EncodeToString(fresh)), nil),
		s.sql.call("secret", wire.NewArgs(1).Text(name), func(r wire.Row) error {
			value = r.Bytes(0)
			return nil
		}))
	return value, err
}
