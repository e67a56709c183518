package sqlite

import (
	"fmt"
	"os"
	"runtime"

	"github.com/belfry-dev/belfry/core"
)

// place is where a database was opened: the file of that name and the lock beside it, as they were then. On
// systems that let a file be deleted, moved or replaced while it is open, what is written afterwards would go
// to a file nobody can find again; and without its lock file a second process could open the same database.
type place struct {
	path       string
	file, lock os.FileInfo
}

func newPlace(path string, lock *fileLock) (p place, err error) {
	if runtime.GOOS == "windows" {
		return p, nil // open files stay where they are
	}
	p.path = path
	if p.file, err = os.Stat(path); err == nil {
		p.lock, err = lock.file.Stat()
	}
	return p, err
}

// check reports whether both files still stand where they were.
func (p *place) check() error {
	if p.path == "" {
		return nil
	}
	if err := stillThere(p.path, p.file); err != nil {
		return err
	}
	return stillThere(p.path+lockSuffix, p.lock)
}

func stillThere(name string, want os.FileInfo) error {
	if is, err := os.Stat(name); err != nil || !os.SameFile(is, want) {
		return fmt.Errorf("%w: %s was deleted, moved or replaced while it was open: stop this process, put the file back, start again",
			core.ErrUnavailable, name)
	}
	return nil
}
