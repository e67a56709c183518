package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	modernc "modernc.org/sqlite"
)

// conn is one connection and the statements prepared on it, used by one goroutine at a time. It speaks to the
// driver directly: a hot statement is prepared once, and nothing stands between its values and ours.
type conn struct {
	path     string
	raw      driver.Conn
	prepared map[string]driver.Stmt
}

// connect opens a connection to the file and sets it up.
func connect(ctx context.Context, path string, pragmas ...string) (*conn, error) {
	connector, err := modernc.NewConnector(uri(path))
	if err != nil {
		return nil, err
	}
	raw, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{path: path, raw: raw, prepared: make(map[string]driver.Stmt)}
	for _, pragma := range pragmas {
		if _, err := c.exec(ctx, "PRAGMA "+pragma); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", pragma, err), c.close())
		}
	}
	return c, nil
}

// uri names the file so that no character of its path is taken for an option.
func uri(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// exec runs a statement and returns how many rows it changed.
func (c *conn) exec(ctx context.Context, name string, args ...any) (changed int64, err error) {
	defer func() {
		if err != nil {
			err = c.explainFault(err)
		}
	}()
	stmt, err := c.prepare(ctx, name)
	if err != nil {
		return 0, err
	}
	result, err := stmt.(driver.StmtExecContext).ExecContext(ctx, values(args))
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// query runs a statement and hands its rows to each, which must not keep the slice.
func (c *conn) query(ctx context.Context, name string, each func(row) error, args ...any) (err error) {
	defer func() {
		if err != nil {
			err = c.explainFault(err)
		}
	}()
	stmt, err := c.prepare(ctx, name)
	if err != nil {
		return err
	}
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, values(args))
	if err != nil {
		return err
	}
	defer func() {
		if e := rows.Close(); err == nil {
			err = e
		}
	}()
	r := make(row, len(rows.Columns()))
	for {
		switch err := rows.Next(r); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := each(r); err != nil {
			return err
		}
	}
}

// number runs a statement that answers with one number; no row and NULL answer ok false.
func (c *conn) number(ctx context.Context, name string, args ...any) (n int64, ok bool, err error) {
	err = c.query(ctx, name, func(r row) error {
		n, ok = r[0].(int64)
		return nil
	}, args...)
	return n, ok, err
}

// script runs several statements that nobody will run again.
func (c *conn) script(ctx context.Context, text string) error {
	if _, err := c.raw.(driver.ExecerContext).ExecContext(ctx, text, nil); err != nil {
		return c.explainFault(err)
	}
	return nil
}

func (c *conn) prepare(ctx context.Context, name string) (driver.Stmt, error) {
	if stmt, ok := c.prepared[name]; ok {
		return stmt, nil
	}
	text, err := statement(name)
	if err != nil {
		return nil, err
	}
	stmt, err := c.raw.(driver.ConnPrepareContext).PrepareContext(ctx, text)
	if err != nil {
		return nil, &prepareError{name, err}
	}
	c.prepared[name] = stmt
	return stmt, nil
}

// prepareError says that a statement cannot be run at all, with any rows.
type prepareError struct {
	name string
	err  error
}

func (e *prepareError) Error() string { return "prepare " + e.name + ": " + e.err.Error() }
func (e *prepareError) Unwrap() error { return e.err }

func (c *conn) close() error {
	var errs []error
	for _, stmt := range c.prepared {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

// values numbers the arguments as the driver wants them: ?1 is the first.
func values(args []any) []driver.NamedValue {
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		if n, ok := arg.(int); ok {
			arg = int64(n)
		}
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return named
}
