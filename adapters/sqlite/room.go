package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// errNoRoom says that what SQLite calls an input/output error is a full disk, or a quota that is used up.
var errNoRoom = errors.New("no room is left")

// roomWanted is more than any file of SQLite's grows by at once, other than by data.
const roomWanted = 256 << 10

// explainFault finds out what an error of the system means that SQLite does not tell apart.
func (c *conn) explainFault(err error) error {
	var fault *modernc.Error
	if !errors.As(err, &fault) || c.path == "" {
		return err
	}
	if code := fault.Code() & 0xff; code != lib.SQLITE_IOERR && code != lib.SQLITE_CANTOPEN {
		return err
	}
	if hasRoom(filepath.Dir(c.path)) {
		return err
	}
	return fmt.Errorf("%w: %w", errNoRoom, err)
}

// hasRoom reports whether a small file can be written to a directory. What speaks against it but room is not looked at.
func hasRoom(dir string) bool {
	file, err := os.CreateTemp(dir, ".belfry-room-*")
	if err == nil {
		_, err = file.Write(make([]byte, roomWanted))
		err = errors.Join(err, file.Sync(), file.Close(), os.Remove(file.Name()))
	}
	return !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT)
}
