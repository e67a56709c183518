package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/core"
)

// prepareSchema makes what must be there before versions can be read. It looks first: a role that may not
// create anything can repeat a migration.
//
// schema_versions is what programs look at that know nothing of compatibility: they refuse a version above their own. It
// gets no later version than firstCompatible, unless they do not work any more.
func prepareSchema(ctx context.Context, tx pgx.Tx) error {
	var there bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass('belfry.migrations') IS NOT NULL").Scan(&there); err != nil || there {
		return err
	}
	_, err := tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS belfry;
CREATE TABLE IF NOT EXISTS belfry.schema_versions (
    version    integer NOT NULL PRIMARY KEY,
    name       text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE belfry.migrations (
    version    integer NOT NULL PRIMARY KEY,
    name       text NOT NULL,
    oldest     integer NOT NULL, -- the program that still works after it, by the newest migration that it knows
    applied_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO belfry.migrations (version, name, oldest, applied_at) SELECT version, name, version, applied_at FROM belfry.schema_versions`)
	return err
}

func readVersion(ctx context.Context, tx pgx.Tx) (v version, err error) {
	err = tx.QueryRow(ctx, "SELECT coalesce(max(version), 0), coalesce(max(oldest), 0) FROM belfry.migrations").Scan(&v.applied, &v.oldest)
	return v, err
}

// recordMigration notes that a migration was applied, and reports whether nobody had noted it before.
func recordMigration(ctx context.Context, tx pgx.Tx, m migration) (first bool, err error) {
	tag, err := tx.Exec(ctx, "INSERT INTO belfry.migrations (version, name, oldest) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", m.version, m.name, m.oldest)
	if err != nil || m.version > firstCompatible && m.oldest <= firstCompatible {
		return tag.RowsAffected() == 1, err
	}
	_, err = tx.Exec(ctx, "INSERT INTO belfry.schema_versions (version, name) VALUES ($1, $2) ON CONFLICT DO NOTHING", m.version, m.name)
	return tag.RowsAffected() == 1, err
}

// explainDuplicate says what tables without their version mean.
func explainDuplicate(ctx context.Context, conn *pgx.Conn, err error) error {
	if !hasCode(err, codeDuplicateTable) {
		return err
	}
	var applied int
	if failed := conn.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM belfry.migrations").Scan(&applied); failed != nil {
		return err
	}
	return fmt.Errorf("%w: its tables are there, but belfry.migrations says version %d", core.ErrSchema, applied)
}

// holder says who has held a lock on a table of the schema for longest, for people.
func (r *migrating) holder(ctx context.Context) string {
	sql, err := inTxStatements()
	if err != nil {
		return "who holds it is not known"
	}
	var pid int
	var application, state, table string
	var seconds float64
	own := []int32{int32(r.conn.PgConn().PID()), int32(r.guard.PgConn().PID())}
	if err := r.conn.QueryRow(ctx, sql["lock_holder"], own).Scan(&pid, &application, &state, &table, &seconds); err != nil {
		return "its holder has just let go"
	}
	return fmt.Sprintf("process %d (%q, %s) has held %s for %s: end its transaction, at last by SELECT pg_terminate_backend(%d)",
		pid, application, state, table, (time.Duration(seconds) * time.Second).String(), pid)
}
