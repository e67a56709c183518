package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/belfry-dev/belfry/core"
)

// idSuffix makes the name of the file of ids of the database's.
const idSuffix = ".ids"

// idBlock is how many ids ahead the file of ids is written at a time. So many may be left out after a crash.
const idBlock = 1000

// idFile stands beside the database and knows what a backup that is put in the database's place does not: how far ids
// have been given, so that none is given twice. Where it is missing or says something else than the database, jobs from
// then on belong to a new installation.
type idFile struct {
	file       *os.File
	place      string // a name of this pair of files
	upTo       int64  // ids below it may have been given
	generation int64  // how often it was written, save at the end
	kept       int64  // generation as the database has it
}

// idFormat has one length, so that one write replaces what was there.
const idFormat = "%-26s %020d %020d\n"

// openIDs reads the file of ids and has the database and the file say the same. It returns the next job's id.
func openIDs(ctx context.Context, c *conn, path string, nextID, now int64) (_ *idFile, _ int64, err error) {
	file, err := os.OpenFile(path+idSuffix, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	f := &idFile{file: file}
	f.read()
	place, begun, err := lastPlace(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	generation, _, err := c.number(ctx, "generation")
	if err != nil {
		return nil, 0, err
	}
	if begun && f.place == place && f.upTo < core.IDLimit {
		nextID = max(nextID, f.upTo)
	}
	same := begun && f.place == place && f.generation == generation
	f.generation = max(f.generation, generation)
	if _, err := c.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return nil, 0, err
	}
	if err := f.begin(ctx, c, same, begun, nextID, now); err != nil {
		_, _ = c.exec(context.WithoutCancel(ctx), "ROLLBACK")
		return nil, 0, err
	}
	if _, err := c.exec(ctx, "COMMIT"); err != nil {
		_, _ = c.exec(context.WithoutCancel(ctx), "ROLLBACK")
		return nil, 0, err
	}
	f.kept = f.generation
	return f, nextID, nil
}

// begin begins a new installation unless it is the same, and makes both say how far ids have been given.
func (f *idFile) begin(ctx context.Context, c *conn, same, begun bool, nextID, now int64) error {
	if !same {
		firstID := nextID
		if !begun {
			firstID = 0
		}
		f.place = rand.Text()
		if _, err := c.exec(ctx, "begin_installation", firstID, core.NewInstallationID(), f.place, now); err != nil {
			return err
		}
	}
	if _, err := c.exec(ctx, "set_meta", "next_id", nextID); err != nil {
		return err
	}
	if err := f.extend(nextID); err != nil {
		return err
	}
	return f.keep(ctx, c)
}

// lastPlace is that of the newest installation.
func lastPlace(ctx context.Context, c *conn) (place string, begun bool, err error) {
	err = c.query(ctx, "installations", func(r row) error {
		place, begun = r.text(3), true
		return nil
	})
	return place, begun, err
}

// read takes over what the file says. One that says nothing that can be read says nothing.
func (f *idFile) read() {
	text := make([]byte, 100)
	n, err := f.file.ReadAt(text, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return
	}
	var said idFile
	if got, err := fmt.Sscanf(string(text[:n]), "%s %d %d", &said.place, &said.upTo, &said.generation); err == nil && got == 3 {
		f.place, f.upTo, f.generation = said.place, said.upTo, said.generation
	}
}

// extend notes that ids below upTo may be given. keep must follow.
func (f *idFile) extend(upTo int64) error {
	f.generation++
	return f.write(upTo)
}

// keep has the database say, with the transaction that is open, how often the file was written.
func (f *idFile) keep(ctx context.Context, c *conn) error {
	if f.kept == f.generation {
		return nil
	}
	_, err := c.exec(ctx, "set_meta", "id_generation", f.generation)
	return err
}

func (f *idFile) write(upTo int64) error {
	_, err := fmt.Fprintf(io.NewOffsetWriter(f.file, 0), idFormat, f.place, upTo, f.generation)
	if err == nil {
		f.upTo = upTo
	}
	return err
}

// close leaves out no id at the next start.
func (f *idFile) close(nextID int64) error {
	return errors.Join(f.write(nextID), f.file.Close())
}

// Installations returns the installations; see core.InstallationStore. They change when a file is opened, never later.
func (s *Store) Installations(ctx context.Context) (list []core.Installation, err error) {
	err = s.readers.read(ctx, func(c *conn) error {
		return c.query(ctx, "installations", func(r row) error {
			list = append(list, core.Installation{FirstID: r.int(0), ID: r.text(1), BegunAt: r.time(2)})
			return nil
		})
	})
	return list, wrap("installations", err)
}
