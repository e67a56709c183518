package sqlite

import (
	"context"
	"errors"
)

// readers is a pool of connections that only read. A read sees one snapshot per statement and waits for no
// writer.
type readers struct {
	free chan *conn
	size int
}

// openReaders opens all of them, so that a full pool is known to work from the start.
func openReaders(ctx context.Context, path string, size int) (*readers, error) {
	p := &readers{free: make(chan *conn, size)}
	for range size {
		c, err := connect(ctx, path, "busy_timeout = 5000", "query_only = 1", "cache_size = -4000", "temp_store = memory")
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
		p.free <- c
		p.size++
	}
	return p, nil
}

// read runs do on a connection of the pool. Each statement sees one snapshot.
func (p *readers) read(ctx context.Context, do func(*conn) error) error {
	select {
	case c, open := <-p.free:
		if !open {
			return errClosed
		}
		defer func() { p.free <- c }()
		return do(c)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// snapshot makes all statements of do see one snapshot.
func (c *conn) snapshot(ctx context.Context, do func() error) (err error) {
	ending := context.WithoutCancel(ctx)
	if _, err := c.exec(ending, "BEGIN"); err != nil {
		return err
	}
	defer func() {
		if _, e := c.exec(ending, "ROLLBACK"); err == nil {
			err = e
		}
	}()
	return do()
}

// close waits for the reads in progress and closes the connections. Later reads are refused.
func (p *readers) close() error {
	var errs []error
	for range p.size {
		errs = append(errs, (<-p.free).close())
	}
	p.size = 0
	close(p.free)
	return errors.Join(errs...)
}
