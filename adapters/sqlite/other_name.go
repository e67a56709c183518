package sqlite

import (
	"context"
	"fmt"
	"os"
	"reflect"

	"github.com/belfry-dev/belfry/core"
)

// unclosed is the name in meta of a mark that stands while a process has the file open, and after it crashed.
const unclosed = "unclosed"

// logSuffix makes the name of the file that has the newest commits, beside the database.
const logSuffix = "-wal"

// hasLog reports whether there are commits beside the file, of a process that crashed.
func hasLog(path string) bool {
	info, err := os.Stat(path + logSuffix)
	return err == nil && info.Size() > 0
}

// links is how many names a file has. Where that is not to be known it is one.
func links(path string) uint64 {
	info, err := os.Stat(path)
	if err != nil {
		return 1
	}
	// The field is in the structure of every Unix.
	n := reflect.Indirect(reflect.ValueOf(info.Sys()))
	if n.Kind() != reflect.Struct {
		return 1
	}
	if n = n.FieldByName("Nlink"); !n.IsValid() || !n.CanUint() {
		return 1
	}
	return n.Uint()
}

// checkOtherName refuses a file that crashed under another of its names: its newest commits are beside that one.
func checkOtherName(ctx context.Context, c *conn, path string) error {
	if links(path) < 2 {
		return nil
	}
	there, _, err := c.number(ctx, "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'meta'")
	if err != nil || there == 0 {
		return err
	}
	open, _, err := c.number(ctx, "SELECT value FROM meta WHERE name = ?1", unclosed)
	if err == nil && open == 1 {
		err = fmt.Errorf("%w: %s was not closed, and its newest jobs are beside another name that it has (a hard link): open it by that name once, or remove that name if it is a copy's",
			core.ErrUnavailable, path)
	}
	return err
}

// markUnclosed marks the file as open, in the file itself and not only in the log beside it.
func markUnclosed(ctx context.Context, c *conn) error {
	if _, err := c.exec(ctx, "set_meta", unclosed, int64(1)); err != nil {
		return err
	}
	_, err := c.exec(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}
