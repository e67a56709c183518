package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// magic is how every SQLite file begins.
var magic = []byte("SQLite format 3\x00")

// prepareFile makes sure that there is a file we may write, and that it is empty or begins as a database does.
func prepareFile(path string) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	head := make([]byte, len(magic))
	switch _, err := io.ReadFull(file, head); {
	case errors.Is(err, io.EOF):
		return nil // empty: a new one
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case !bytes.Equal(head, magic):
		return fmt.Errorf("%w: %s does not begin like a database: %s", core.ErrCorrupt, path, adviceCorrupt)
	}
	return nil
}

// quickCheck looks for damage: pages that are missing, out of place or make no sense. It gives up after limit,
// since a file of many gigabytes would hold up the start for minutes; every page is checked again when it is read.
func quickCheck(ctx context.Context, c *conn, limit time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var fault string
	err := c.query(bounded, "PRAGMA quick_check(1)", func(r row) error {
		fault = r.text(0)
		return nil
	})
	if err != nil && bounded.Err() != nil {
		return ctx.Err()
	}
	if err == nil && fault != "ok" {
		err = fmt.Errorf("%w: %s: %s", core.ErrCorrupt, fault, adviceCorrupt)
	}
	return err
}
