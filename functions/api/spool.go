package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	spoolAt   = 256 << 10 // bytes of a body or an answer that are kept in memory
	diskTimes = 4         // bytes of the disk that requests may hold, for one of memory
)

// spool keeps bodies while they arrive, and answers while their callers take them, on disk.
type spool struct {
	dir  string
	room *budget
}

// errNoDisk says that nothing can be kept on disk.
var errNoDisk = errors.New("spool: the disk takes nothing")

// spooled is a file of a spool, which nobody else sees.
type spooled struct {
	file  *os.File
	named bool // it could not be removed while it is open
	hold  hold
}

// open makes a file of a caller. errNoDisk: there is none to be had.
func (s *spool) open(caller string) (*spooled, error) {
	if s == nil {
		return nil, errNoDisk
	}
	file, err := os.CreateTemp(s.dir, "belfry-request-*")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoDisk, err)
	}
	named := os.Remove(file.Name()) != nil
	return &spooled{file: file, named: named, hold: hold{of: s.room, caller: caller}}, nil
}

// Write appends to the file. errCrowded: too much is held on disk; errNoDisk: it is full.
func (f *spooled) Write(p []byte) (int, error) {
	if err := f.hold.set(context.Background(), f.hold.n+int64(len(p))); err != nil {
		return 0, err
	}
	n, err := f.file.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", errNoDisk, err)
	}
	return n, err
}

// rewind goes to the beginning, to read.
func (f *spooled) rewind() error {
	_, err := f.file.Seek(0, io.SeekStart)
	return err
}

func (f *spooled) close() {
	_ = f.file.Close()
	if f.named {
		_ = os.Remove(f.file.Name())
	}
	f.hold.release()
}
