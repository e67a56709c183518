package sqlite

import (
	"errors"
	"os"
	"syscall"
)

// errSharingViolation is what opening a file answers that another process has open for itself alone.
const errSharingViolation = syscall.Errno(32)

// lockFile opens the lock file for this process alone, or answers errHeld.
func lockFile(name string) (*os.File, error) {
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: name, Err: err}
	}
	handle, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharingViolation) {
		return nil, errHeld
	}
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: name, Err: err}
	}
	return os.NewFile(uintptr(handle), name), nil
}
