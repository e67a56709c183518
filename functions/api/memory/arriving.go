package memory

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// BodyTimes is how often the bytes of a body are held while what it asks for is done: as it came, as the statement that
// writes it, as that goes out to the database, and as the answer.
const BodyTimes = 4

// Arriving is a body on its way. What is beyond SpoolAt waits on disk until all is there, so that callers who send slowly,
// or stop, hold little.
type Arriving struct {
	Ctx    context.Context
	Hold   *Hold
	Spool  *Spool
	memory bytes.Buffer
	file   *spooled // nil while all is in memory
	size   int64
	noDisk bool
}

// Write takes a part of a body in. ErrCrowded: there is no room for it.
func (b *Arriving) Write(p []byte) (int, error) {
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
func (b *Arriving) place(n int) error {
	need := b.memory.Len() + n
	if b.file != nil || need <= b.memory.Cap() {
		return nil
	}
	if need > SpoolAt && !b.noDisk {
		file, err := b.Spool.Open(b.Hold.Caller)
		b.noDisk = errors.Is(err, ErrNoDisk)
		if err == nil {
			b.file = file
			if _, err = file.Write(b.memory.Bytes()); err != nil {
				return err
			}
			b.memory = bytes.Buffer{}
			return b.Hold.Set(b.Ctx, 0)
		}
	}
	grown := max(2*b.memory.Cap(), need, 4<<10)
	if err := b.Hold.Set(b.Ctx, max(int64(grown), b.Hold.N)); err != nil {
		return err
	}
	b.memory.Grow(grown - b.memory.Len())
	return nil
}

// Whole is the body once it is there.
func (b *Arriving) Whole() ([]byte, error) {
	if err := b.Hold.Set(b.Ctx, BodyTimes*b.size); err != nil {
		return nil, err
	}
	if b.file == nil {
		return b.memory.Bytes(), nil
	}
	body := make([]byte, b.size)
	err := b.file.Rewind()
	if err == nil {
		_, err = io.ReadFull(b.file.File, body)
	}
	return body, err
}

// Close gives the room on disk back.
func (b *Arriving) Close() {
	if b.file != nil {
		b.file.Close()
	}
}
