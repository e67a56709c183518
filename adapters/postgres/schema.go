package postgres

import (
	"context"
	"fmt"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// version is what a database says of its schema.
type version struct {
	applied int // the newest migration
	oldest  int // the oldest program that works on it, by the newest migration that it knows
}

var (
	errNewer = fmt.Errorf("%w: the database is newer: update this program", core.ErrSchema)
	errOlder = fmt.Errorf("%w: the database is older: run the migrations (belfry migrate up)", core.ErrSchema)
)

// check reports whether a program that knows so many migrations works on the schema.
func (v version) check(known int) error {
	switch {
	case v.applied < known:
		return fmt.Errorf("%w (schema version %d, this program needs %d)", errOlder, v.applied, known)
	case v.applied > known && known < v.oldest:
		return fmt.Errorf("%w (schema version %d for programs that know %d or more, this one knows %d)", errNewer, v.applied, v.oldest, known)
	}
	return nil
}

// checkVersion compares the database's version with the newest that this program knows.
func checkVersion(v version) error {
	known, err := migrations()
	if err != nil {
		return err
	}
	return v.check(len(known))
}

// checkSchema asks the database for its version.
func (s *Store) checkSchema(ctx context.Context) error {
	var v version
	err := s.sendAs(ctx, probeShare, true, s.sql.call("schema_version", nil, func(r wire.Row) error {
		v = version{applied: int(r.Int(0)), oldest: int(r.Int(1))}
		return nil
	}))
	if hasCode(err, codeUndefinedTable) {
		return errOlder
	}
	if err != nil {
		return err
	}
	return checkVersion(v)
}
