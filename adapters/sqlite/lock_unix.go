//go:build !windows

package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// lockFile opens the lock file and locks it, or answers errHeld.
func lockFile(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return file, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errHeld
	} else {
		err = &os.PathError{Op: "lock", Path: name, Err: err}
	}
	return nil, errors.Join(err, file.Close())
}
