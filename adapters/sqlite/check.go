package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// prepareFile makes sure that there is a file we may write. What is in it is SQLite's to judge.
func prepareFile(path string) (err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", path)
	}
	return err
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
