package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// fileLock is one process's right to a database file: an exclusive lock of the operating system on a file
// beside it, and one on the database itself, which its other names share. The system drops them with the process,
// however that ends. The file beside stays: deleting it would let two processes lock two files of one name; the
// writer stops when that happens (file_place.go).
type fileLock struct {
	file     *os.File
	database *os.File // nil where it is not locked
}

// lockSuffix makes the name of the lock file of the database's.
const lockSuffix = ".lock"

// errHeld is the answer of lockFile where another process, or another Store of this one, has the lock.
var errHeld = errors.New("held")

// acquireLock locks path for this process.
func acquireLock(path string) (*fileLock, error) {
	name := path + lockSuffix
	file, err := lockFile(name)
	if errors.Is(err, errHeld) {
		return nil, fmt.Errorf("%w: %s%s: stop that one, or give this one another file", core.ErrLocked, path, holderOf(name))
	}
	if err != nil {
		return nil, err
	}
	database, err := lockDatabase(path)
	if err == nil {
		err = checkMount(path)
	}
	l := &fileLock{file, database}
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	// Who holds it is told to people only, so an error here costs nothing but that.
	if file.Truncate(0) == nil {
		_, _ = fmt.Fprintf(file, "process %d\n", os.Getpid())
	}
	return l, nil
}

// holderOf tells who wrote the lock file, where that can be read.
func holderOf(name string) string {
	file, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, 100))
	if who := strings.TrimSpace(string(text)); err == nil && who != "" {
		return " (" + who + ")"
	}
	return ""
}

// release gives the file free. Whoever has it open in this process has closed it.
func (l *fileLock) release() error {
	if l.database == nil {
		return l.file.Close()
	}
	return errors.Join(l.database.Close(), l.file.Close())
}
