package enginetest

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/sqlite"
	"github.com/belfry-dev/belfry/core"
)

// values are what somebody may have written into a column, by its type and whether it may be null.
var values = map[string][]string{
	"bigint":                   {"9223372036854775807", "-9223372036854775808", "-1", "0"},
	"timestamp with time zone": {"'infinity'", "'-infinity'", "'20231-01-01'", "'0001-01-01'", "'4713-01-01 BC'"},
	"text":                     {"''", "repeat('é', 3000)", "'Europe/Atlantis'"},
	"json":                     {"'{}'", "'[]'", "'null'", "'1'", `'"x"'`, `'{"schedule":"x","scheduled_for":"0000-00-00"}'`, `'{"every":"0s"}'`, `'{"cron":"* * * * *","time_zone":"Europe/Atlantis"}'`, `'{"every":"-5s","missed":"all","missed_limit":-1}'`},
	"boolean":                  {"true", "false"},
	"integer":                  {"2147483647", "-2147483648", "-1", "0"},
	"smallint":                 {"32767", "-32768", "-1", "0"},
	"interval":                 {"'100000000 years'", "'-100000000 years'", "'0'"},
	"bigint[]":                 {"'{}'", "'{NULL}'", "'{9223372036854775807,9223372036854775807}'", "'{-9223372036854775808}'"},
	"text[]":                   {"'{}'", "'{NULL}'", `'{""}'`},
	"bytea":                    {"''", `'\xff'`},
	// SQLite
	"INTEGER": {"9223372036854775807", "-9223372036854775807", "-62135596800000000", "253402300800000000", "-1", "0"},
	"BLOB":    {"''", "x'ff'", "'text'"},
	"TEXT":    {"''", "'{}'", "'[]'", "'null'", "'1'", "'not json'", `'{"every":"0s"}'`, `'{"cron":"* * * * *","time_zone":"Europe/Atlantis"}'`},
}

type column struct {
	name, typ string
	null      bool
}

// hurt is a database whose schedules can be damaged by hand.
type hurt struct {
	store  core.Store
	prefix string
	exec   func(sql string) error
	minute time.Time // that counts are of

	tables  func() (map[string][]column, error)
	keep    func(table string) error // its rows, for restore
	restore func(table string) error
	// damage writes a value into a row, and reports whether there is such a row.
	damage func(table, column, value string, row int) (bool, error)
	// refuse lets nobody change or delete rows until allow.
	refuse func(table, which string) error
	allow  func(table string) error
}

// open connects h to its database, whose tables have names with this prefix. list finds the tables' columns, place is
// what tells rows apart.
func (h *hurt) open(list, place string, exec func(string) (int64, error), query func(string, func(table string, c column)) error) {
	prefix := h.prefix
	h.minute = time.Now().UTC().Truncate(time.Minute).Add(-time.Minute)
	names := map[string][]string{}
	h.exec = func(text string) error {
		_, err := exec(text)
		return err
	}
	h.tables = func() (map[string][]column, error) {
		all := map[string][]column{}
		err := query(list, func(table string, c column) {
			all[table] = append(all[table], c)
			names[table] = append(names[table], c.name)
		})
		return all, err
	}
	h.keep = func(table string) error {
		return h.exec("CREATE TABLE kept_" + table + " AS SELECT * FROM " + prefix + table)
	}
	h.restore = func(table string) error {
		columns := strings.Join(names[table], ", ")
		insert := "INSERT INTO " + prefix + table + " (" + columns + ")"
		if prefix != "" {
			insert += " OVERRIDING SYSTEM VALUE"
		}
		return h.exec("BEGIN; DELETE FROM " + prefix + table + "; " + insert + " SELECT " + columns + " FROM kept_" + table + "; DELETE FROM " + prefix + "set_apart; COMMIT")
	}
	h.damage = func(table, column, value string, row int) (bool, error) {
		n, err := exec(fmt.Sprintf("UPDATE %[1]s%[2]s SET %[3]s = %[4]s WHERE %[5]s IN (SELECT %[5]s FROM %[1]s%[2]s ORDER BY %[5]s LIMIT 1 OFFSET %[6]d)",
			prefix, table, column, value, place, row))
		return n > 0, err
	}
}

func hurtPostgres(t *testing.T) hurt {
	store, url := openPostgres(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	h := hurt{store: store, prefix: "belfry."}
	h.refuse = func(table, which string) error {
		return h.exec(`CREATE OR REPLACE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
			CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON belfry.` + table + " FOR EACH ROW WHEN (old." + which + ") EXECUTE FUNCTION public.refuse()")
	}
	h.allow = func(table string) error { return h.exec("DROP TRIGGER refuse ON belfry." + table) }
	h.open(`SELECT c.table_name::text, c.column_name::text, CASE data_type WHEN 'ARRAY' THEN ltrim(replace(replace(udt_name, '_int8', 'bigint'), '_text', 'text'), '_') || '[]' ELSE data_type END,
			c.is_nullable = 'YES'
		FROM   information_schema.columns c JOIN pg_class t ON t.oid = ('belfry.' || quote_ident(c.table_name))::regclass
		WHERE  c.table_schema = 'belfry' AND t.relkind IN ('r', 'p') AND NOT t.relispartition AND c.is_generated = 'NEVER' AND c.table_name <> 'migrations'
		ORDER  BY c.table_name, c.ordinal_position`, "ctid",
		func(text string) (int64, error) {
			results, err := conn.PgConn().Exec(t.Context(), text).ReadAll()
			if err != nil {
				_, _ = conn.PgConn().Exec(t.Context(), "ROLLBACK").ReadAll()
				return 0, err
			}
			return results[len(results)-1].CommandTag.RowsAffected(), nil
		}, func(text string, each func(string, column)) error {
			rows, err := conn.Query(t.Context(), text)
			if err != nil {
				return err
			}
			var table string
			var c column
			_, err = pgx.ForEachRow(rows, []any{&table, &c.name, &c.typ, &c.null}, func() error {
				each(table, c)
				return nil
			})
			return err
		})
	return h
}

func hurtSQLite(t *testing.T) hurt {
	path := filepath.Join(t.TempDir(), "belfry.db")
	store, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	other, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	other.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = other.Close() })
	h := hurt{store: store}
	h.refuse = func(table, which string) error {
		for _, event := range []string{"UPDATE", "DELETE"} {
			if err := h.exec("CREATE TRIGGER refuse_" + event + " BEFORE " + event + " ON " + table + " WHEN old." + which + " BEGIN SELECT RAISE(ABORT, 'refused'); END"); err != nil {
				return err
			}
		}
		return nil
	}
	h.allow = func(string) error { return h.exec("DROP TRIGGER refuse_UPDATE; DROP TRIGGER refuse_DELETE") }
	h.open(`SELECT t.name, c.name, c.type, c."notnull" = 0 AND c.pk = 0 FROM sqlite_schema t JOIN pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE 'kept_%' AND t.name NOT IN ('meta', 'migrations')`, "rowid",
		func(text string) (int64, error) {
			res, err := other.ExecContext(t.Context(), text)
			if err != nil {
				_, _ = other.ExecContext(t.Context(), "ROLLBACK")
				return 0, err
			}
			return res.RowsAffected()
		}, func(text string, each func(string, column)) error {
			rows, err := other.QueryContext(t.Context(), text)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var table string
				var c column
				if err := rows.Scan(&table, &c.name, &c.typ, &c.null); err != nil {
					return err
				}
				each(table, c)
			}
			return rows.Err()
		})
	return h
}
