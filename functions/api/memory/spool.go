package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	SpoolAt   = 256 << 10 // bytes of a body or an answer that are kept in memory
	DiskTimes = 4         // bytes of the disk that requests may hold, for one of memory
)

// Spool keeps bodies while they arrive, and answers while their callers take them, on disk.
type Spool struct {
	Dir  string
	Room *Budget
}

// ErrNoDisk says that nothing can be kept on disk.
var ErrNoDisk = errors.New("spool: the disk takes nothing")

// spooled is a file of a spool, which nobody else sees.
type spooled struct {
	File  *os.File
	named bool // it could not be removed while it is open
	hold  Hold
}

// Open makes a file of a caller. ErrNoDisk: there is none to be had.
func (s *Spool) Open(caller string) (*spooled, error) {
	if s == nil {
		return nil, ErrNoDisk
	}
	file, err := os.CreateTemp(s.Dir, "belfry-request-*")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDisk, err)
	}
	named := os.Remove(file.Name()) != nil
	return &spooled{File: file, named: named, hold: Hold{Of: s.Room, Caller: caller}}, nil
}

// Write appends to the file. ErrCrowded: too much is held on disk; ErrNoDisk: it is full.
func (f *spooled) Write(p []byte) (int, error) {
	if err := f.hold.Set(context.Background(), f.hold.N+int64(len(p))); err != nil {
		return 0, err
	}
	n, err := f.File.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrNoDisk, err)
	}
	return n, err
}

// Rewind goes to the beginning, to read.
func (f *spooled) Rewind() error {
	_, err := f.File.Seek(0, io.SeekStart)
	return err
}

// Close removes the file and gives its room back.
func (f *spooled) Close() {
	_ = f.File.Close()
	if f.named {
		_ = os.Remove(f.File.Name())
	}
	f.hold.Release()
}
