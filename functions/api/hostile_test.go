package api_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// hostile is one request of which exactly one part is wrong.
type hostile struct {
	what         string // for the test's output
	target, body string
	header       []string
	field        string // that the problem names: it, an element of it or a member of it. "" means it may name any
	status       []int  // one of these
}

// TestHostileInput makes every kind of wrong request of every operation of the served document, by what the document
// says of its parameters and its body: each is refused with a problem that names the field, says nothing of the inside,
// and changes no row. Operations that are added to the document are tried without being named here.
func TestHostileInput(t *testing.T) {
	b := newBench(t)
	running, lease := b.plant()
	doc := documentOf(t, b)
	rows := b.rows()
	tried := 0
	doc.each(func(method, path string, op *openOperation) {
		if !strings.HasPrefix(path, "/v1/") {
			return
		}
		m := &maker{bench: b, doc: doc, op: op, method: method, path: path, running: running, lease: lease}
		for _, h := range m.all() {
			tried++
			b.try(op, method, h)
		}
		if after := b.rows(); after != rows {
			t.Errorf("%s: what was refused changed rows; before\n%s\nafter\n%s", op.OperationID, rows, after)
			rows = after
		}
	})
	if tried < 2000 {
		t.Errorf("only %d requests were made", tried)
	}
	t.Logf("%d requests", tried)
}

// plant leaves jobs in several states, and one of them running under a lease token.
func (b *bench) plant() (core.Job, string) {
	b.t.Helper()
	for i := range 3 {
		b.submit(fmt.Sprintf(`{"type":"echo","tenant":"acme","tags":["x"],"dedupe_key":"key-%d"}`, i))
		b.submit(`{"type":"echo","delay":"1h"}`)
	}
	b.do("POST", "/v1/jobs/1/cancel", "").want(b.t, http.StatusOK)
	b.do("PUT", "/v1/types/invoice.send", `{"max_attempts":3}`).want(b.t, http.StatusCreated)
	b.do("PUT", "/v1/schedules/nightly", `{"cron":"@daily","type":"echo"}`).want(b.t, http.StatusCreated)
	return b.start(`{"type":"hook","tenant":"acme"}`)
}

// try sends a request and holds the answer against what it must be.
func (b *bench) try(op *openOperation, method string, h hostile) {
	b.t.Helper()
	got := b.do(method, h.target, h.body, h.header...)
	fault := func(text string) {
		b.t.Helper()
		b.t.Errorf("%s, %s: %s\n%s %.200s %.300s\n%d %.400s", op.OperationID, h.what, text, method, h.target, h.body, got.status, got.body)
	}
	if got.status < 400 || got.status >= 500 || len(h.status) > 0 && !slices.Contains(h.status, got.status) {
		fault(fmt.Sprintf("want a refusal (%v)", h.status))
		return
	}
	var p problem.Problem
	if err := json.Unmarshal([]byte(got.body), &p); err != nil {
		fault("no problem document")
		return
	}
	named := func(e problem.FieldProblem) bool {
		return e.Field == h.field || strings.HasPrefix(e.Field, h.field+"[") || strings.HasPrefix(e.Field, h.field+".")
	}
	if got.status == http.StatusRequestEntityTooLarge && h.field != "" {
		h.field = "body"
	}
	if h.field != "" && !slices.ContainsFunc(p.Errors, named) {
		fault("the problem does not name " + h.field)
	}
	for _, inside := range []string{"strconv", "core.", "api.", "pgx", "sql:", "runtime error", "interface {", "UPDATE", "DELETE FROM", "panic", "unmarshal", "syscall", "0xc0"} {
		if strings.Contains(got.body, inside) && !strings.Contains(h.target+h.body, inside) {
			fault("the problem speaks of the inside: " + inside)
		}
	}
}

// rows is all that the store's file holds.
func (b *bench) rows() string {
	b.t.Helper()
	db, err := sql.Open("sqlite", "file:"+b.file+"?mode=ro")
	if err != nil {
		b.t.Fatal(err)
	}
	defer db.Close()
	var all strings.Builder
	for _, table := range b.query(db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`) {
		fmt.Fprintln(&all, table, b.query(db, `SELECT * FROM "`+strings.Trim(table, "[]")+`" ORDER BY 1`))
	}
	return all.String()
}

// query returns each row as text.
func (b *bench) query(db *sql.DB, statement string) []string {
	b.t.Helper()
	rows, err := db.QueryContext(b.t.Context(), statement)
	if err != nil {
		b.t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		b.t.Fatal(err)
	}
	var texts []string
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(sql.RawBytes)
		}
		if err := rows.Scan(values...); err != nil {
			b.t.Fatal(err)
		}
		var text []string
		for _, v := range values {
			text = append(text, string(*v.(*sql.RawBytes)))
		}
		texts = append(texts, strings.Join(text, "|"))
	}
	if err := rows.Err(); err != nil {
		b.t.Fatal(err)
	}
	return texts
}
