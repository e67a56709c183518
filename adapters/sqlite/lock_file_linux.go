package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"github.com/belfry-dev/belfry/core"
)

// lockDatabase locks the database file itself, which is the same by all of its names: hard links, and mounts of the file
// in other places. SQLite's own locks are of another kind and do not meet this one.
//
// When the file is held already its descriptor stays open until this process ends: closing any descriptor of a file drops
// SQLite's locks on it, and the one who holds it may be this very process.
func lockDatabase(path string) (held *os.File, err error) {
	fd, err := syscall.Open(path, syscall.O_RDWR|syscall.O_CREAT|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	for {
		if err = syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%w: %s is another name of a file that is open: stop that process, or give this one another file", core.ErrLocked, path)
	}
	// A file system without such locks has only the lock beside the file.
	return os.NewFile(uintptr(fd), path), nil
}

// checkMount refuses a file that is mounted alone: what SQLite keeps beside it, the newest commits among it, would stay
// outside the mount, and be lost or not be found under the file's other name.
func checkMount(path string) error {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil // not to be known here
	}
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) > 4 && unescape(string(fields[4])) == path {
			return fmt.Errorf("%w: %s is mounted as a single file, without what belongs beside it: mount its directory", core.ErrUnavailable, path)
		}
	}
	return nil
}

// unescape reads a path as the kernel writes it, with \040 for a space.
func unescape(text string) string {
	if plain, err := strconv.Unquote(`"` + text + `"`); err == nil {
		return plain
	}
	return text
}
