package wire

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// Call is one statement of a pipeline.
type Call struct {
	SQL  string
	Args *Args           // nil means none
	Each func(Row) error // gets every row while it is valid; nil means rows are not wanted
}

var binaryFormat = []int16{1}

// Run sends the calls in one round trip and reads their rows. Unless the connection is inside an open
// transaction they are one transaction, and a nil error means it is committed: after any other error it may
// or may not be when the connection broke, and is not when the server reported the error.
func Run(ctx context.Context, conn *pgconn.PgConn, calls ...Call) error {
	_, err := RunCounted(ctx, conn, calls...)
	return err
}

// RunCounted is Run, and says how many rows were passed on.
func RunCounted(ctx context.Context, conn *pgconn.PgConn, calls ...Call) (rows int, err error) {
	err = run(ctx, conn, calls, &rows)
	if Outdated(err) && preparedOn(conn) != nil {
		forget(conn)
		if conn.TxStatus() == 'I' {
			err = run(ctx, conn, calls, &rows)
		}
	}
	return rows, err
}

// ErrUnsent says that the end of the pipeline could not be sent. Unless the connection was inside an open transaction
// the server has done nothing then, whatever else of it arrived.
var ErrUnsent = errors.New("the connection is closed")

func run(ctx context.Context, conn *pgconn.PgConn, calls []Call, rows *int) (err error) {
	known := preparedOn(conn)
	p := conn.StartPipeline(ctx)
	defer func() {
		if closed := p.Close(); err == nil && closed != nil {
			err = closed
		}
	}()
	fresh := send(p, known, calls)
	if err := p.Sync(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsent, err)
	}
	var broken error // by a caller's Each: the transaction is committed all the same
	for i, c := range calls {
		if name := fresh[i]; name != "" {
			if err := awaitPrepared(p); err != nil {
				return err
			}
			known[c.SQL] = name
		}
		each, err := read(p, c, rows)
		if err != nil {
			return err
		}
		broken = errors.Join(broken, each)
	}
	if err := awaitSync(p); err != nil {
		return err
	}
	return broken
}

// send queues the calls. Those that get prepared by it are in fresh, by place, with their names.
func send(p *pgconn.Pipeline, known prepared, calls []Call) (fresh map[int]string) {
	var sent map[string]string // prepared by this very pipeline
	for i, c := range calls {
		if c.Args == nil {
			p.SendQueryParams(c.SQL, nil, nil, nil, binaryFormat)
			continue
		}
		if known == nil {
			p.SendQueryParams(c.SQL, c.Args.values, c.Args.oids, binaryFormat, binaryFormat)
			continue
		}
		name := known[c.SQL]
		if name == "" {
			name = sent[c.SQL]
		}
		if name == "" {
			if sent == nil {
				sent, fresh = map[string]string{}, map[int]string{}
			}
			name = fmt.Sprintf("belfry_%d", len(known)+len(sent)+1)
			sent[c.SQL], fresh[i] = name, name
			p.SendPrepare(name, c.SQL, c.Args.oids)
		}
		p.SendQueryPrepared(name, c.Args.values, binaryFormat, binaryFormat)
	}
	return fresh
}

// awaitPrepared reads the server's word that a statement is prepared.
func awaitPrepared(p *pgconn.Pipeline) error {
	results, err := p.GetResults()
	if err != nil {
		return err
	}
	if _, ok := results.(*pgconn.StatementDescription); !ok {
		return fmt.Errorf("want a prepared statement, got %T", results)
	}
	return nil
}

// read passes the rows of one call on. each is the first error of Each, which ends only the reading.
func read(p *pgconn.Pipeline, c Call, rows *int) (each, err error) {
	results, err := p.GetResults()
	if err != nil {
		return nil, err
	}
	reader, ok := results.(*pgconn.ResultReader)
	if !ok {
		return nil, fmt.Errorf("want rows, got %T", results)
	}
	for reader.NextRow() {
		if c.Each != nil && each == nil {
			each = c.Each(reader.Values())
			*rows++
		}
	}
	_, err = reader.Close()
	return each, err
}

// awaitSync reads the server's word that the transaction is committed.
func awaitSync(p *pgconn.Pipeline) error {
	results, err := p.GetResults()
	if err != nil {
		return err
	}
	if _, ok := results.(*pgconn.PipelineSync); !ok {
		return fmt.Errorf("want the end of the pipeline, got %T", results)
	}
	return nil
}
