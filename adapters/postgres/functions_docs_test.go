package postgres_test

import (
	"os"
	"strings"
	"testing"
)

// The SQL of docs/sql.md runs as it stands there, block after block.
func TestDocumentedSQLRuns(t *testing.T) {
	text, err := os.ReadFile("../../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	address := migrated(t)
	conn := connect(t, address)
	role := newRole(t, conn)
	script(t, conn, "CREATE TABLE orders (id bigint, customer text)")
	blocks := strings.Split(string(text), "```sql\n")[1:]
	for _, block := range blocks {
		sql, _, _ := strings.Cut(block, "```")
		p := startPsql(t, address)
		p.say(t, strings.ReplaceAll(sql, " TO app;", " TO "+role+";"))
		if _, err := p.end(); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if n := value[int](t, conn, `SELECT count(*) FROM belfry.jobs`); len(blocks) < 5 || n != 3 {
		t.Errorf("%d blocks left %d jobs", len(blocks), n)
	}
}
