package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/core"
)

// SchemaStep is one migration, of this program or of the database.
type SchemaStep struct {
	Version   int
	Name      string
	AppliedAt time.Time // zero means that the database does not have it
	Unknown   bool      // the database has it, this program does not know it
	Oldest    int       // the program that still works after it, by the newest migration that it knows
}

// Fits reports whether this program works on a database with these steps.
func Fits(steps []SchemaStep) bool {
	var v version
	known := 0
	for _, s := range steps {
		if !s.Unknown {
			known++
		}
		if !s.AppliedAt.IsZero() {
			v.applied, v.oldest = max(v.applied, s.Version), max(v.oldest, s.Oldest)
		}
	}
	return v.check(known) == nil
}

// Schema compares the migrations of this program and of a database, in order. It changes nothing.
func Schema(ctx context.Context, dsn string) ([]SchemaStep, error) {
	known, err := migrations()
	if err != nil {
		return nil, fmt.Errorf("postgres: schema: %w", err)
	}
	steps := make([]SchemaStep, len(known))
	for i, m := range known {
		steps[i] = SchemaStep{Version: m.version, Name: m.name, Oldest: m.oldest}
	}
	err = inspect(ctx, dsn, func(conn *pgx.Conn) error {
		var recorded, before bool
		if err := conn.QueryRow(ctx, "SELECT to_regclass('belfry.migrations') IS NOT NULL, to_regclass('belfry.schema_versions') IS NOT NULL").Scan(&recorded, &before); err != nil || !recorded && !before {
			return err
		}
		query := "SELECT version, name, applied_at, oldest FROM belfry.migrations ORDER BY version"
		if !recorded { // it was last migrated by a program that kept no more
			query = "SELECT version, name, applied_at, version FROM belfry.schema_versions ORDER BY version"
		}
		rows, err := conn.Query(ctx, query)
		if err != nil {
			return err
		}
		var s SchemaStep
		_, err = pgx.ForEachRow(rows, []any{&s.Version, &s.Name, &s.AppliedAt, &s.Oldest}, func() error {
			if at := s.Version - 1; at >= 0 && at < len(known) {
				steps[at].AppliedAt, steps[at].Oldest = s.AppliedAt, s.Oldest
			} else {
				s.Unknown = true
				steps = append(steps, s)
			}
			return nil
		})
		return err
	})
	return steps, inspected("schema", err)
}

// Diagnosis is what a database looks like to someone who wonders what is wrong.
type Diagnosis struct {
	Version   string // of the server
	number    int
	isolation string
	encoding  string
	commit    string // synchronous_commit
	readOnly  bool
	rights    []string // that this role lacks, by what it may not do
	mend      []string // statements that put sequences ahead of their rows
	Now       time.Time

	OldestSnapshot      time.Duration // zero means none, or none that may be seen
	SnapshotPID         int
	SnapshotApplication string
	SnapshotState       string

	Schedulers  int // buckets that are held; of 64
	HistoryDays int // ahead for which history partitions are ready, up to 30
	Unhandled   []UnhandledType

	Unread       bool     // rights are missing to look at the tables
	RoleIsSchema bool     // the session's role is named like the schema: what it creates without a schema's name lands in it
	Strangers    []string // relations in the schema that are none of Belfry's
}

// UnhandledType is a type without a worker and its due jobs, counted up to core.CountCap.
type UnhandledType struct {
	Type string
	Due  int
}

// Fault is a fault of the server and what to do about it.
type Fault struct{ Text, Advice string }

// unhandledTypes is how many of them Diagnose names.
const unhandledTypes = 20

// Diagnose looks at a database. What depends on the schema stays zero where that is missing. It changes nothing and
// bounds each of its statements to 10 s.
func Diagnose(ctx context.Context, dsn string) (Diagnosis, error) {
	var d Diagnosis
	sql, err := allStatements()
	if err != nil {
		return d, fmt.Errorf("postgres: diagnose: %w", err)
	}
	err = inspect(ctx, dsn, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "SET statement_timeout = '10s'"); err != nil {
			return err
		}
		var seconds float64
		if err := conn.QueryRow(ctx, sql["diagnose_server"]).Scan(&d.Version, &d.number, &d.isolation, &d.encoding, &d.commit, &d.readOnly, &d.Now,
			&seconds, &d.SnapshotPID, &d.SnapshotApplication, &d.SnapshotState); err != nil {
			return err
		}
		d.OldestSnapshot = time.Duration(max(seconds, 0) * float64(time.Second))
		ours, err := relations()
		if err != nil {
			return err
		}
		if err := conn.QueryRow(ctx, sql["diagnose_names"], ours).Scan(&d.RoleIsSchema, &d.Strangers); err != nil {
			return err
		}
		if err := d.lookAtRights(ctx, conn, sql); err != nil {
			return err
		}
		err = d.lookAtSchema(ctx, conn, sql)
		if d.Unread = hasCode(err, codeNotAllowed) && len(d.rights) > 0; d.Unread || hasCode(err, codeUndefinedTable) || hasCode(err, codeInvalidSchema) {
			return nil
		}
		return err
	})
	return d, inspected("diagnose", err)
}

// unhandled names types that no worker handles, none where the schema does not know yet.
func unhandled(ctx context.Context, conn *pgx.Conn, sql statements) ([]UnhandledType, error) {
	rows, err := conn.Query(ctx, sql["stats_unhandled"], "0 s", core.CountCap, unhandledTypes)
	if err == nil {
		var types []UnhandledType
		types, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (u UnhandledType, err error) {
			return u, row.Scan(&u.Type, &u.Due, nil)
		})
		if err == nil {
			return types, nil
		}
	}
	if hasCode(err, codeUndefinedTable) {
		return nil, nil
	}
	return nil, err
}

// Faults are the reasons why a store would not open on this server, or would refuse jobs.
func (d Diagnosis) Faults() []Fault {
	var faults []Fault
	if d.number < oldestServer*10_000 {
		faults = append(faults, Fault{"the server is PostgreSQL " + d.Version, fmt.Sprintf("update it to %d or newer", oldestServer)})
	}
	if d.isolation != "read committed" {
		faults = append(faults, Fault{fmt.Sprintf("default_transaction_isolation is %q", d.isolation), "ALTER DATABASE … SET default_transaction_isolation = 'read committed'"})
	}
	if d.encoding != "UTF8" {
		faults = append(faults, Fault{"the database's encoding is " + d.encoding, "make a database with ENCODING 'UTF8'"})
	}
	if d.commit == "off" {
		faults = append(faults, Fault{"synchronous_commit is off: a crash of the server loses jobs that were accepted", "ALTER DATABASE … SET synchronous_commit = on, and the same for the role"})
	}
	for _, lack := range d.rights {
		faults = append(faults, Fault{lack, "GRANT it to the role, as the owner of the tables"})
	}
	if len(d.mend) > 0 {
		faults = append(faults, Fault{"sequences are behind their rows, as some kinds of restore leave them, or at the end of the numbers: ids would be given twice, or none", "run " + strings.Join(d.mend, "; ")})
	}
	if d.readOnly {
		faults = append(faults, Fault{"the server takes no writes", "it is a standby, or default_transaction_read_only is on: point Belfry at the primary"})
	}
	return faults
}

// lookAtRights asks for the rights that this role lacks. It reads the catalogue alone.
func (d *Diagnosis) lookAtRights(ctx context.Context, conn *pgx.Conn, sql statements) error {
	var m missing
	text, err := sql.withRights("missing_rights")
	if err != nil {
		return err
	}
	if err := conn.QueryRow(ctx, text).Scan(&m.toWork, &m.toServe, &m.servesNobody, &m.toMaintain); err != nil {
		return err
	}
	for _, lack := range m.lacks(false, true) {
		d.rights = append(d.rights, "this role may not "+lack)
	}
	return nil
}

// lookAtSchema looks at the tables. A role that may not look at sequences leaves them out.
func (d *Diagnosis) lookAtSchema(ctx context.Context, conn *pgx.Conn, sql statements) error {
	err := conn.QueryRow(ctx, sql["diagnose_schema"]).Scan(&d.Schedulers, &d.HistoryDays)
	if err != nil {
		return err
	}
	rows, err := conn.Query(ctx, sql["sequences_behind"], 0)
	if err == nil {
		var name string
		var highest int64
		_, err = pgx.ForEachRow(rows, []any{&name, &highest}, func() error {
			d.mend = append(d.mend, setSequence(name, highest))
			return nil
		})
	}
	if err != nil && !hasCode(err, codeNotAllowed) {
		return err
	}
	d.Unhandled, err = unhandled(ctx, conn, sql)
	return err
}

// inspect looks at a database over a connection of its own, with no prepared statements, which poolers do not like.
func inspect(ctx context.Context, dsn string, look func(*pgx.Conn) error) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return ErrAddress
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	sureConnection(config)
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	return errors.Join(look(conn), conn.Close(context.WithoutCancel(ctx)))
}

// inspected is wrap for inspect, whose address may not be one.
func inspected(act string, err error) error {
	if errors.Is(err, ErrAddress) {
		return fmt.Errorf("postgres: %s: %w", act, err)
	}
	return wrap(act, err)
}
