package api

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// bodyTimes is how often the bytes of a body are held while what it asks for is done: as it came, as the statement that
// writes it, as that goes out to the database, and as the answer.
const bodyTimes = 4

// arriving is a body on its way. What is beyond spoolAt waits on disk until all is there, so that callers who send slowly,
// or stop, hold little.
type arriving struct {
	ctx    context.Context
	hold   *hold
	spool  *spool
	memory bytes.Buffer
	file   *spooled // nil while all is in memory
	size   int64
	noDisk bool
}

// Write takes a part of a body in. errCrowded: there is no room for it.
func (b *arriving) Write(p []byte) (int, error) {
	if err := b.place(len(p)); err != nil {
		return 0, err
	}
	b.size += int64(len(p))
	if b.file != nil {
		return b.file.Write(p)
	}
	return b.memory.Write(p)
}

// place finds room for n more bytes: in memory, or on disk.
func (b *arriving) place(n int) error {
	need := b.memory.Len() + n
	if b.file != nil || need <= b.memory.Cap() {
		return nil
	}
	if need > spoolAt && !b.noDisk {
		file, err := b.spool.open(b.hold.caller)
		b.noDisk = errors.Is(err, errNoDisk)
		if err == nil {
			b.file = file
			if _, err = file.Write(b.memory.Bytes()); err != nil {
				return err
			}
			b.memory = bytes.Buffer{}
			return b.hold.set(b.ctx, 0)
		}
	}
	grown := max(2*b.memory.Cap(), need, 4<<10)
	if err := b.hold.set(b.ctx, max(int64(grown), b.hold.n)); err != nil {
		return err
	}
	b.memory.Grow(grown - b.memory.Len())
	return nil
}

// whole is the body once it is there.
func (b *arriving) whole() ([]byte, error) {
	if err := b.hold.set(b.ctx, bodyTimes*b.size); err != nil {
		return nil, err
	}
	if b.file == nil {
		return b.memory.Bytes(), nil
	}
	body := make([]byte, b.size)
	err := b.file.rewind()
	if err == nil {
		_, err = io.ReadFull(b.file.file, body)
	}
	return body, err
}

func (b *arriving) close() {
	if b.file != nil {
		b.file.close()
	}
}
