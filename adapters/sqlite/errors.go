package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/belfry-dev/belfry/core"
)

// errClosed is the answer to calls after Close.
var errClosed = fmt.Errorf("%w: it is closed", core.ErrUnavailable)

// What an operator can do.
const (
	adviceCorrupt  = "put a backup in its place, or move it away and save what can be read with: sqlite3 FILE .recover"
	adviceFull     = "the disk is full, or a quota is used up: make room"
	adviceReadOnly = "the file and its directory must be writable"
)

// wrap translates an error of SQLite or of the file system and says what was being done.
func wrap(act string, err error) error {
	if err == nil {
		return nil
	}
	var fault *modernc.Error
	row := isRowFault(err)
	switch {
	case errors.Is(err, errNoRoom):
		err = fmt.Errorf("%w: %w: %w: %s", core.ErrFull, core.ErrReadOnly, err, adviceFull)
	case errors.As(err, &fault):
		err = translate(fault, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		err = fmt.Errorf("%w: %w: %w: %s", core.ErrFull, core.ErrReadOnly, err, adviceFull)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		err = fmt.Errorf("%w: %w: %s", core.ErrReadOnly, err, adviceReadOnly)
	}
	if row {
		return fmt.Errorf("sqlite: %s: %w: %w", act, core.ErrRow, err)
	}
	return fmt.Errorf("sqlite: %s: %w", act, err)
}

func translate(fault *modernc.Error, err error) error {
	switch fault.Code() & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w: %s", core.ErrCorrupt, err, adviceCorrupt)
	case lib.SQLITE_FULL:
		return fmt.Errorf("%w: %w: %w: %s", core.ErrFull, core.ErrReadOnly, err, adviceFull)
	case lib.SQLITE_READONLY:
		return fmt.Errorf("%w: %w: %s", core.ErrReadOnly, err, adviceReadOnly)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("%w: %w", core.ErrBusy, err)
	case lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN:
		return fmt.Errorf("%w: %w", core.ErrUnavailable, err)
	}
	return err
}
