package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/core"
)

// Migrator brings a schema up to this program's version. The zero value is ready.
type Migrator struct {
	// Patience bounds how long one step tries to get the locks that it needs. Zero means 10 min.
	Patience time.Duration
	// Waiting is told, from time to time, what a step waits for. Nil means nobody is told.
	Waiting func(reason string)
	// Applied is told the name of each migration that this Up applied, once it is committed. Nil means nobody is told.
	Applied func(name string)
}

// How a step gets its locks. While it waits for one, all later users of the table queue behind it, so it gives up soon
// and leaves them a much longer pause.
const (
	stepLockWait   = 150 * time.Millisecond
	stepPause      = 1500 * time.Millisecond
	migratePause   = 200 * time.Millisecond // between two looks whether another migrator is done
	defaultPatient = 10 * time.Minute
	tellEvery      = 10 * time.Second
)

// Advisory locks, held by transactions. The first is held while any step runs; it was the only one once, so that
// programs of then and now never migrate at the same time. The second is held for a whole migration.
const (
	stepLock      = 0x62656c667279 // "belfry"
	migrationLock = stepLock + 1
)

// Migrate brings the schema belfry up to this program's version; see Migrator.Up.
func Migrate(ctx context.Context, dsn string) error { return Migrator{}.Up(ctx, dsn) }

// Up applies the migrations that are missing, step by step. It may be repeated, cut off anywhere, and run from several
// processes at once: each waits for the one before it. No step keeps others waiting for long: one that does not get its
// locks at once tries again later, for as long as Patience allows, and is then core.ErrBusy and says who is in the way.
// A schema newer than this program is left alone, and is core.ErrSchema unless this program works on it.
func (m Migrator) Up(ctx context.Context, dsn string) error {
	list, err := migrations()
	if err != nil {
		return fmt.Errorf("postgres: migrate: %w", err)
	}
	return m.upTo(ctx, dsn, list)
}

func (m Migrator) upTo(ctx context.Context, dsn string, list []migration) (err error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return fmt.Errorf("postgres: migrate: %w", ErrAddress)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	sureConnection(config)
	r := migrating{Migrator: m, list: list}
	r.Patience = cmp.Or(m.Patience, defaultPatient)
	for _, conn := range []**pgx.Conn{&r.guard, &r.conn} {
		if *conn, err = pgx.ConnectConfig(ctx, config); err != nil {
			return wrap("migrate", errors.Join(err, r.close(ctx)))
		}
	}
	return wrap("migrate", errors.Join(r.run(ctx), r.close(ctx)))
}

// migrating is one Up under way.
type migrating struct {
	Migrator
	list  []migration
	guard *pgx.Conn // its open transaction holds the migration's lock; it has no snapshot, which builders of indexes would wait for
	conn  *pgx.Conn // runs the steps
	told  time.Time
}

func (r *migrating) close(ctx context.Context) error {
	var errs []error
	for _, conn := range []*pgx.Conn{r.conn, r.guard} {
		if conn != nil {
			errs = append(errs, conn.Close(context.WithoutCancel(ctx)))
		}
	}
	return errors.Join(errs...)
}

func (r *migrating) run(ctx context.Context) error {
	if err := r.lock(ctx); err != nil {
		return err
	}
	var current version
	if err := r.try(ctx, "prepare the schema", func() error {
		return r.transact(ctx, func(tx pgx.Tx) (err error) {
			if err = prepareSchema(ctx, tx); err == nil {
				current, err = readVersion(ctx, tx)
			}
			return err
		})
	}); err != nil {
		return err
	}
	if err := current.check(len(r.list)); errors.Is(err, errNewer) {
		return err
	}
	for _, m := range r.list {
		if m.version <= current.applied {
			continue
		}
		applied, err := r.apply(ctx, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if applied && r.Applied != nil {
			r.Applied(m.name)
		}
	}
	return nil
}

// lock waits until no other migrator is at work. It never waits inside a statement: that would be a snapshot.
func (r *migrating) lock(ctx context.Context) error {
	for {
		var locked bool
		if _, err := r.guard.Exec(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
			return err
		}
		if err := r.guard.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(migrationLock)).Scan(&locked); err != nil || locked {
			return err
		}
		if _, err := r.guard.Exec(ctx, "ROLLBACK"); err != nil {
			return err
		}
		r.tell(func() string { return "another process migrates this database" })
		if err := pause(ctx, migratePause); err != nil {
			return err
		}
	}
}

// apply runs the steps of one migration. The last is recorded in its own transaction where it has one. It reports whether
// this migrator recorded the migration: another may have, if the lock of the migration was lost.
func (r *migrating) apply(ctx context.Context, m migration) (applied bool, err error) {
	record := func(tx pgx.Tx) (err error) {
		applied, err = recordMigration(ctx, tx, m)
		return err
	}
	for i, s := range m.steps {
		last := i == len(m.steps)-1
		err := r.try(ctx, m.name, func() error {
			if s.concurrently {
				return r.concurrently(ctx, s)
			}
			return r.transact(ctx, func(tx pgx.Tx) error {
				if current, err := readVersion(ctx, tx); err != nil || current.applied >= m.version {
					return err // the lock of the migration was lost, and another went on
				}
				if _, err := tx.Exec(ctx, s.sql); err != nil {
					return explainDuplicate(ctx, r.guard, err)
				}
				if last {
					return record(tx)
				}
				return nil
			})
		})
		if err == nil && last && s.concurrently {
			err = r.try(ctx, m.name, func() error {
				return r.transact(ctx, record)
			})
		}
		if err != nil {
			return false, err
		}
	}
	return applied, nil
}

// transact runs do in a transaction that waits for no lock for long, under the lock of all steps. What unqualified
// names mean does not depend on the role, the database or whoever else makes tables there.
func (r *migrating) transact(ctx context.Context, do func(pgx.Tx) error) error {
	settings := fmt.Sprintf(`SET LOCAL lock_timeout = %d; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '1min';
SET LOCAL search_path = pg_catalog, pg_temp; SELECT pg_advisory_xact_lock(%d)`, stepLockWait.Milliseconds(), stepLock)
	return pgx.BeginTxFunc(ctx, r.conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, settings); err != nil {
			return err
		}
		return do(tx)
	})
}

// concurrently runs a statement outside a transaction. It locks nobody out, but may have to wait for transactions that
// are open. An index that an earlier try left half built is dropped first, and one that was built is looked at: it may be
// another's, unfinished.
func (r *migrating) concurrently(ctx context.Context, s step) error {
	if err := r.ownSettings(ctx); err != nil {
		return err
	}
	index := s.index()
	for range 2 {
		half, err := r.halfBuilt(ctx, index)
		if err != nil {
			return err
		}
		if half {
			if _, err := r.conn.Exec(ctx, "DROP INDEX CONCURRENTLY IF EXISTS belfry."+pgx.Identifier{index}.Sanitize()); err != nil {
				return err
			}
		}
		if _, err := r.conn.Exec(ctx, s.sql); err != nil {
			return err
		}
		if half, err = r.halfBuilt(ctx, index); err != nil || !half {
			return err
		}
	}
	return fmt.Errorf("%w: another process builds the index %s", core.ErrBusy, index)
}

func (r *migrating) halfBuilt(ctx context.Context, index string) (half bool, err error) {
	err = r.conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('belfry.' || $1::text) AND NOT indisvalid)", index).Scan(&half)
	return half, err
}

// ownSettings lifts limits that a long statement would meet, where the connection is a session of its own. Through a
// pooler they would stay on a connection that others get.
func (r *migrating) ownSettings(ctx context.Context) error {
	var process uint32
	if err := r.conn.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&process); err != nil || process != r.conn.PgConn().PID() {
		return err
	}
	_, err := r.conn.Exec(ctx, "SET statement_timeout = 0; SET lock_timeout = "+strconv.FormatInt(r.Patience.Milliseconds(), 10))
	return err
}

// try repeats do while it does not get its locks.
func (r *migrating) try(ctx context.Context, name string, do func() error) error {
	until := time.Now().Add(r.Patience)
	for {
		err := do()
		if !hasCode(err, codeLockNotAvailable) && !hasCode(err, codeDeadlock) && !errors.Is(err, core.ErrBusy) {
			return err
		}
		holder := func() string { return name + " waits for a lock: " + r.holder(ctx) }
		wait := stepPause + rand.N(stepPause/4)
		if time.Now().Add(wait).After(until) {
			return fmt.Errorf("%w: %s", core.ErrBusy, holder())
		}
		r.tell(holder)
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// tell passes on what is waited for, not too often.
func (r *migrating) tell(reason func() string) {
	if r.Waiting != nil && time.Since(r.told) > tellEvery {
		r.told = time.Now()
		r.Waiting(reason())
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
