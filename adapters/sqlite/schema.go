package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/belfry-dev/belfry/core"
)

//go:embed sql/migrations/*.sql
var migrationFiles embed.FS

// migrationNames are the migrations in their order.
var migrationNames = mustListMigrations()

// schemaVersion is the version this program reads and writes: the number of its last migration.
var schemaVersion = int64(len(migrationNames))

func mustListMigrations() []string {
	names, err := fs.Glob(migrationFiles, "sql/migrations/*.sql")
	if err != nil {
		panic(err) // embedded: there or the program was not built
	}
	return names
}

// applicationID marks a file as Belfry's: "Blfr".
const applicationID = 0x426c6672

// fits reports whether this program can work with a schema of that version.
func fits(version int64) error {
	if version < 0 {
		return fmt.Errorf("%w: the file says version %d, which never was: put a backup in its place", core.ErrSchema, version)
	}
	if version > schemaVersion {
		return fmt.Errorf("%w: the file has version %d, this program knows versions up to %d: use a newer program, or another file",
			core.ErrSchema, version, schemaVersion)
	}
	return nil
}

// migrate brings the schema up to date. Each migration is one transaction that also writes its number, so
// that a crash leaves either all of it or nothing, and repeating does nothing.
func migrate(ctx context.Context, c *conn) error {
	version, err := versionOf(ctx, c)
	if err != nil {
		return err
	}
	for i := version; i < schemaVersion; i++ {
		text, err := migrationFiles.ReadFile(migrationNames[i])
		if err != nil {
			return err
		}
		if err := migrateOnce(ctx, c, i+1, string(text)); err != nil {
			_ = c.script(context.WithoutCancel(ctx), "ROLLBACK")
			return fmt.Errorf("migration %d: %w", i+1, err)
		}
	}
	return nil
}

// fills are the parts of migrations that SQL cannot say, by their numbers.
var fills = map[int64]func(context.Context, *conn) error{4: fillGroups}

// migrateOnce runs one migration. After an error its transaction is still open.
func migrateOnce(ctx context.Context, c *conn, version int64, text string) error {
	if err := c.script(ctx, "BEGIN IMMEDIATE;\n"+text); err != nil {
		return err
	}
	if fill := fills[version]; fill != nil {
		if err := fill(ctx, c); err != nil {
			return err
		}
	}
	return c.script(ctx, fmt.Sprintf("PRAGMA user_version = %d;\nPRAGMA application_id = %d;\nCOMMIT;", version, applicationID))
}

// versionOf reads the schema's version and refuses files that are not ours, or newer than this program.
func versionOf(ctx context.Context, c *conn) (int64, error) {
	application, _, err := c.number(ctx, "PRAGMA application_id")
	if err != nil {
		return 0, err
	}
	version, _, err := c.number(ctx, "PRAGMA user_version")
	if err != nil {
		return 0, err
	}
	tables, _, err := c.number(ctx, "SELECT COUNT(*) FROM sqlite_schema")
	if err != nil {
		return 0, err
	}
	if application != applicationID && (tables > 0 || version != 0) {
		return 0, fmt.Errorf("%w: the file belongs to another program: use another file", core.ErrSchema)
	}
	if version == 0 && tables > 0 {
		return 0, fmt.Errorf("%w: the file has tables but no version: put a backup in its place", core.ErrSchema)
	}
	return version, fits(version)
}
