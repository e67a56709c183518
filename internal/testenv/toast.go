package testenv

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// LoseToast deletes the part of a row's payload that the server keeps out of line, so that reading it raises an error. table is
// belfry.jobs or another table with the columns id and payload. The test needs the extension pg_surgery.
func LoseToast(t *testing.T, conn *pgx.Conn, table string, id int64) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), `CREATE EXTENSION IF NOT EXISTS pg_surgery`); err != nil {
		NotInstalled(t, "pg_surgery", err)
	}
	_, err := conn.Exec(t.Context(), fmt.Sprintf(`
DO $$
DECLARE
    apart  regclass := (SELECT reltoastrelid FROM pg_class WHERE oid = '%[2]s'::regclass);
    before oid[];
    places tid[];
    kept   text := (SELECT payload FROM %[2]s WHERE id = %[1]d);
BEGIN
    -- Written anew it has an id among the values kept apart that no other has.
    EXECUTE format('SELECT array_agg(DISTINCT chunk_id) FROM %%s', apart) INTO before;
    UPDATE %[2]s SET payload = ('[' || kept || ']')::json WHERE id = %[1]d;
    EXECUTE format('SELECT array_agg(ctid) FROM %%s WHERE chunk_id <> ALL ($1)', apart) INTO places USING before;
    PERFORM heap_force_kill(apart, places);
END
$$`, id, table))
	if err != nil {
		t.Fatal(err)
	}
	var text string
	if err := conn.QueryRow(t.Context(), "SELECT payload FROM "+table+" WHERE id = $1", id).Scan(&text); err == nil {
		t.Fatal("the payload can still be read")
	}
}
