package sqlite

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

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

// firstCompatible is the last migration from before migrations said which programs they leave working. user_version is
// what programs of then look at, which refuse a number above their own: it does not rise above this one, unless they do
// not work any more.
const firstCompatible = 7

// markOldest is the comment in which a migration names the oldest program that works after it, by the newest migration
// that it knows.
const markOldest = "-- belfry:oldest "

// version is what a file says of its schema.
type version struct {
	applied int64 // the newest migration; 0 for a new file
	oldest  int64 // the oldest program that works on it, by the newest migration that it knows
	said    int64 // user_version
}

// fits reports whether this program can work with the schema.
func (v version) fits() error {
	if v.said < 0 || v.applied < 0 {
		return fmt.Errorf("%w: the file says version %d, which never was: put a backup in its place", core.ErrSchema, min(v.said, v.applied))
	}
	if v.applied > schemaVersion && v.oldest > schemaVersion {
		return fmt.Errorf("%w: the file has version %d, for programs that know version %d or more, and this one knows %d: use a newer program, or another file",
			core.ErrSchema, v.applied, v.oldest, schemaVersion)
	}
	return nil
}

// oldestAfter is what a migration says of the programs that it leaves working.
func oldestAfter(number int64, text string) (int64, error) {
	if number <= firstCompatible {
		return number, nil
	}
	for line := range strings.Lines(text) {
		if said, found := strings.CutPrefix(strings.TrimSpace(line), markOldest); found {
			oldest, err := strconv.ParseInt(said, 10, 64)
			if err == nil && oldest < number {
				return oldest, nil
			}
		}
	}
	return 0, fmt.Errorf("it does not say which program still works after it: want %q and a number below its own", markOldest)
}

// migrate brings the schema up to date. Each migration is one transaction that also writes its number, so
// that a crash leaves either all of it or nothing, and repeating does nothing.
func migrate(ctx context.Context, c *conn) error {
	current, err := versionOf(ctx, c)
	if err != nil {
		return err
	}
	for i := current.applied; i < schemaVersion; i++ {
		text, err := migrationFiles.ReadFile(migrationNames[i])
		if err != nil {
			return err
		}
		if err := migrateOnce(ctx, c, &current, i+1, string(text)); err != nil {
			_ = c.script(context.WithoutCancel(ctx), "ROLLBACK")
			return fmt.Errorf("migration %d: %w", i+1, err)
		}
	}
	return nil
}

// fills are the parts of migrations that SQL cannot say, by their numbers.
var fills = map[int64]func(context.Context, *conn) error{4: fillGroups}

// migrateOnce runs one migration. After an error its transaction is still open.
func migrateOnce(ctx context.Context, c *conn, current *version, number int64, text string) error {
	oldest, err := oldestAfter(number, text)
	if err != nil {
		return err
	}
	if err := c.script(ctx, "BEGIN IMMEDIATE;\n"+text); err != nil {
		return err
	}
	if fill := fills[number]; fill != nil {
		if err := fill(ctx, c); err != nil {
			return err
		}
	}
	next := version{applied: number, oldest: max(current.oldest, oldest), said: current.said}
	if number <= firstCompatible || next.oldest > firstCompatible {
		next.said = number
	}
	if err := c.script(ctx, fmt.Sprintf(`INSERT INTO meta (name, value) VALUES ('schema_version', %d), ('schema_oldest', %d)
ON CONFLICT (name) DO UPDATE SET value = excluded.value;
PRAGMA user_version = %d;
PRAGMA application_id = %d;
COMMIT;`, next.applied, next.oldest, next.said, applicationID)); err != nil {
		return err
	}
	*current = next
	return nil
}

// versionOf reads the schema's version and refuses files that are not ours, or that this program does not work on.
func versionOf(ctx context.Context, c *conn) (v version, err error) {
	application, _, err := c.number(ctx, "PRAGMA application_id")
	if err != nil {
		return v, err
	}
	if v.said, _, err = c.number(ctx, "PRAGMA user_version"); err != nil {
		return v, err
	}
	tables, _, err := c.number(ctx, "SELECT COUNT(*) FROM sqlite_schema")
	if err != nil {
		return v, err
	}
	if application != applicationID && (tables > 0 || v.said != 0) {
		return v, fmt.Errorf("%w: the file belongs to another program: use another file", core.ErrSchema)
	}
	if v.said == 0 && tables > 0 {
		return v, fmt.Errorf("%w: the file has tables but no version: put a backup in its place", core.ErrSchema)
	}
	v.applied, v.oldest = v.said, v.said
	if there, _, err := c.number(ctx, "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'meta'"); err != nil || there == 0 {
		return v, cmp.Or(err, v.fits())
	}
	for name, value := range map[string]*int64{"schema_version": &v.applied, "schema_oldest": &v.oldest} {
		n, found, err := c.number(ctx, "SELECT value FROM meta WHERE name = ?1", name)
		if err != nil {
			return v, err
		}
		if found {
			*value = max(n, v.said)
		}
	}
	return v, v.fits()
}
