package postgres

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
)

// plan is a node of EXPLAIN's answer.
type plan struct {
	Node     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Subplan  string  `json:"Subplan Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Unjoined float64 `json:"Rows Removed by Join Filter"`
	Hit      int64   `json:"Shared Hit Blocks"`
	Read     int64   `json:"Shared Read Blocks"`
	Records  float64 `json:"WAL Records"`
	Bytes    float64 `json:"WAL Bytes"`
	Plans    []plan  `json:"Plans"`
}

func (p plan) walk(visit func(plan)) {
	visit(p)
	for _, child := range p.Plans {
		child.walk(visit)
	}
}

// explained is one statement's plan, as it ran.
type explained struct {
	sql     string
	plan    plan
	ms      float64
	text    string
	generic bool
}

// errRollBack ends the transaction of an explained pipeline, so that looking changes nothing.
var errRollBack = errors.New("roll back")

// explainer runs what a store would send, under EXPLAIN, in transactions that are rolled back.
type explainer struct {
	t    *testing.T
	s    *Store
	conn *pgx.Conn
}

func newExplainer(t *testing.T, s *Store, address string) *explainer {
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return &explainer{t, s, conn}
}

// errNotSent stands for the answer of a pipeline that was looked at instead of being sent.
var errNotSent = errors.New("not sent")

// explain runs the first pipeline that act sends, and nothing else of it.
func (e *explainer) explain(generic bool, act func(*Store) error) (list []explained) {
	e.t.Helper()
	ctx := e.t.Context()
	var calls []wire.Call
	e.s.intercept = func(sent []wire.Call) error {
		if calls == nil {
			calls = sent
		}
		return errNotSent
	}
	if err := act(e.s); err == nil {
		e.t.Fatal("the act sent nothing")
	}
	e.s.intercept = nil
	err := pgx.BeginFunc(ctx, e.conn, func(tx pgx.Tx) error {
		for _, c := range calls {
			if strings.Contains(c.SQL, "set_config") {
				if err := wire.Run(ctx, e.conn.PgConn(), c); err != nil {
					return err
				}
				continue
			}
			x, err := e.one(c, generic)
			if err != nil {
				return fmt.Errorf("%w\n%s", err, c.SQL)
			}
			list = append(list, x)
		}
		return errRollBack
	})
	if !errors.Is(err, errRollBack) {
		e.t.Fatal(err)
	}
	return list
}

// guarded explains one statement under the guard of the hot ones.
func (e *explainer) guarded(c wire.Call) (x explained, err error) {
	rolled := pgx.BeginFunc(e.t.Context(), e.conn, func(tx pgx.Tx) error {
		if err := wire.Run(e.t.Context(), e.conn.PgConn(), e.s.guard(time.Second)); err != nil {
			return err
		}
		x, err = e.one(c, true)
		return errRollBack
	})
	if err == nil && !errors.Is(rolled, errRollBack) {
		err = rolled
	}
	return x, err
}

func (e *explainer) one(c wire.Call, generic bool) (explained, error) {
	x := explained{sql: c.SQL, generic: generic}
	explain := wire.Call{SQL: "EXPLAIN (ANALYZE, BUFFERS, WAL, FORMAT JSON) " + c.SQL, Args: c.Args, Each: func(r wire.Row) error {
		x.text = r.Text(0)
		return nil
	}}
	if generic {
		prepared, err := e.prepare(c)
		if err != nil {
			return x, err
		}
		explain.SQL, explain.Args = prepared, nil
	}
	if err := wire.Run(e.t.Context(), e.conn.PgConn(), explain); err != nil {
		return x, err
	}
	var out []struct {
		Plan plan
		Time float64 `json:"Execution Time"`
	}
	if err := json.Unmarshal([]byte(x.text), &out); err != nil {
		return x, err
	}
	x.plan, x.ms = out[0].Plan, out[0].Time
	return x, nil
}

var parameter = regexp.MustCompile(`\$\d+`)

// prepare makes a prepared statement with a generic plan and returns the EXPLAIN that executes it.
func (e *explainer) prepare(c wire.Call) (string, error) {
	ctx := e.t.Context()
	n := 0
	for _, p := range parameter.FindAllString(c.SQL, -1) {
		var i int
		if _, err := fmt.Sscanf(p, "$%d", &i); err != nil {
			return "", err
		}
		n = max(n, i)
	}
	types := c.Args.Types()
	var literals []string
	if n > 0 {
		columns := make([]string, len(types))
		for i, typ := range types {
			columns[i] = fmt.Sprintf("quote_nullable($%d::%s::text) || '::%s'", i+1, typ, typ)
		}
		if err := wire.Run(ctx, e.conn.PgConn(), wire.Call{SQL: "SELECT " + strings.Join(columns, ", "), Args: c.Args, Each: func(r wire.Row) error {
			for i := range r {
				literals = append(literals, r.Text(i))
			}
			return nil
		}}); err != nil {
			return "", err
		}
	}
	sql := fmt.Sprintf("SET LOCAL plan_cache_mode = force_generic_plan; DEALLOCATE ALL; PREPARE looked (%s) AS %s", strings.Join(types, ", "), c.SQL)
	if n == 0 {
		sql = "SET LOCAL plan_cache_mode = force_generic_plan; DEALLOCATE ALL; PREPARE looked AS " + c.SQL
	}
	if _, err := e.conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		return "", err
	}
	execute := "EXPLAIN (ANALYZE, BUFFERS, WAL, FORMAT JSON) EXECUTE looked"
	if n > 0 {
		execute += "(" + strings.Join(literals, ", ") + ")"
	}
	return execute, nil
}

// buffers is how many shared pages the statement touched.
func (x explained) buffers() int64 { return x.plan.Hit + x.plan.Read }
