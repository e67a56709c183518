package postgres

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one step of the schema, forward only.
type migration struct {
	version int
	name    string
	sql     string
}

// migrationLock is the advisory lock, held for the transaction, under which migrations run.
const migrationLock = 0x62656c667279 // "belfry"

// Migrate brings the schema belfry up to this program's version, in one transaction: all of it or nothing. It
// may be repeated and run from several processes at once; each waits for the one before it. A schema newer
// than this program is left alone and is core.ErrSchema.
func Migrate(ctx context.Context, dsn string) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return fmt.Errorf("postgres: migrate: %w", errAddress)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	sureConnection(config)
	steps, err := migrations()
	if err != nil {
		return fmt.Errorf("postgres: migrate: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return wrap("migrate", err)
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return apply(ctx, tx, steps) })
	return wrap("migrate", errors.Join(err, conn.Close(context.WithoutCancel(ctx))))
}

// apply runs the steps that are missing. The lock comes first, so that what is read after it is current.
func apply(ctx context.Context, tx pgx.Tx, steps []migration) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrationLock)); err != nil {
		return err
	}
	if err := prepareSchema(ctx, tx); err != nil {
		return err
	}
	var current int
	if err := tx.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM belfry.schema_versions").Scan(&current); err != nil {
		return err
	}
	if err := checkVersion(current, steps); errors.Is(err, errNewer) {
		return err
	}
	for _, step := range steps {
		if step.version <= current {
			continue
		}
		if _, err := tx.Exec(ctx, step.sql); hasCode(err, codeDuplicateTable) {
			return fmt.Errorf("%w: its tables are there, but belfry.schema_versions says version %d", core.ErrSchema, current)
		} else if err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		if _, err := tx.Exec(ctx, "INSERT INTO belfry.schema_versions (version, name) VALUES ($1, $2)", step.version, step.name); err != nil {
			return err
		}
	}
	return nil
}

// prepareSchema makes what must be there before versions can be read. It looks first: a role that may not
// create schemas can repeat a migration.
func prepareSchema(ctx context.Context, tx pgx.Tx) error {
	var there bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass('belfry.schema_versions') IS NOT NULL").Scan(&there); err != nil || there {
		return err
	}
	_, err := tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS belfry;
CREATE TABLE belfry.schema_versions (
    version    integer NOT NULL PRIMARY KEY,
    name       text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)`)
	return err
}

// migrations reads the embedded steps in order. Their numbers are 1, 2, 3, … without a gap.
func migrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var steps []migration
	for _, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(strings.TrimPrefix(name, "migrations/"), ".sql")
		number, _, _ := strings.Cut(base, "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("migration %s has no number", base)
		}
		steps = append(steps, migration{version, base, string(text)})
	}
	slices.SortFunc(steps, func(a, b migration) int { return cmp.Compare(a.version, b.version) })
	for i, step := range steps {
		if step.version != i+1 {
			return nil, fmt.Errorf("migration %d is missing or double", i+1)
		}
	}
	return steps, nil
}

var (
	errNewer = fmt.Errorf("%w: the database is newer: update this program", core.ErrSchema)
	errOlder = fmt.Errorf("%w: the database is older: run the migrations (belfry migrate up)", core.ErrSchema)
)

// checkVersion compares the database's version with the newest this program knows.
func checkVersion(current int, steps []migration) error {
	known := len(steps)
	switch {
	case current > known:
		return fmt.Errorf("%w (schema version %d, this program knows %d)", errNewer, current, known)
	case current < known:
		return fmt.Errorf("%w (schema version %d, this program needs %d)", errOlder, current, known)
	}
	return nil
}

// checkSchema asks the database for its version.
func (s *Store) checkSchema(ctx context.Context) error {
	steps, err := migrations()
	if err != nil {
		return err
	}
	var current int64
	err = s.send(ctx, s.sql.call("schema_version", nil, func(r wire.Row) error {
		current = r.Int(0)
		return nil
	}))
	if hasCode(err, codeUndefinedTable) {
		return errOlder
	}
	if err != nil {
		return err
	}
	return checkVersion(int(current), steps)
}
