package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/belfry-dev/belfry/core"
)

// writerPragmas set the writing connection up. Full synchronisation makes a commit survive a power cut.
var writerPragmas = []string{
	"busy_timeout = 5000",
	"auto_vacuum = incremental", // takes effect in a new file only, before its first table
	"trusted_schema = off",
	"cell_size_check = on",
	"foreign_keys = on",
	"cache_size = -16000", // KiB
	"temp_store = memory",
}

// Open opens the database file at path, making it where there is none, and brings its schema up to date.
// Errors wrap core.ErrLocked where another process has it open, core.ErrCorrupt where it is damaged,
// core.ErrSchema where it is newer than this program or another program's, core.ErrReadOnly where it or its
// directory cannot be written. The caller closes the Store.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	opts = opts.withDefaults()
	store, err := open(ctx, path, opts)
	if err != nil {
		return nil, wrap("open "+path, err)
	}
	return store, nil
}

func open(ctx context.Context, path string, opts Options) (_ *Store, err error) {
	path, err = resolve(path)
	if err != nil {
		return nil, err
	}
	var undo []func() error
	defer func() {
		for i := len(undo) - 1; err != nil && i >= 0; i-- {
			err = errors.Join(err, undo[i]())
		}
	}()
	lock, err := acquireLock(path)
	if err != nil {
		return nil, err
	}
	undo = append(undo, lock.release)
	if err := prepareFile(path); err != nil {
		return nil, err
	}
	// Where there is the choice, commits wait for the data and not for the file's dates. Elsewhere SQLite
	// knows a way of its own.
	if _, err := modernc.Fdatasync(true); err != nil && !errors.Is(err, modernc.ErrFdatasyncUnavailable) {
		return nil, err
	}
	logged := hasLog(path)
	c, err := connect(ctx, path, writerPragmas...)
	if err != nil {
		return nil, err
	}
	undo = append(undo, c.close)
	if !logged {
		if err := checkOtherName(ctx, c, path); err != nil {
			return nil, err
		}
	}
	nextID, err := prepareDatabase(ctx, c, opts)
	if err != nil {
		return nil, err
	}
	where, err := newPlace(path, lock)
	if err != nil {
		return nil, err
	}
	clock := newClock(opts.Clock, opts.Offset)
	ids, nextID, err := openIDs(ctx, c, path, nextID, clock.now())
	if err != nil {
		return nil, err
	}
	undo = append(undo, ids.file.Close)
	if err := markUnclosed(ctx, c); err != nil {
		return nil, err
	}
	pool, err := openReaders(ctx, path, opts.Readers)
	if err != nil {
		return nil, err
	}
	return &Store{clock: clock, writer: startWriter(c, where, clock, ids, nextID), readers: pool, lock: lock}, nil
}

// prepareDatabase checks the database, sets its journal up and migrates it. It returns the next job's id.
func prepareDatabase(ctx context.Context, c *conn, opts Options) (nextID int64, err error) {
	if _, err := versionOf(ctx, c); err != nil {
		return 0, err
	}
	if err := quickCheck(ctx, c, opts.CheckTime); err != nil {
		return 0, err
	}
	synchronous := "synchronous = full"
	if opts.NoSync {
		synchronous = "synchronous = off"
	}
	for _, pragma := range []string{"journal_mode = wal", synchronous, "journal_size_limit = 67108864"} {
		if _, err := c.exec(ctx, "PRAGMA "+pragma); err != nil {
			return 0, fmt.Errorf("%s: %w", pragma, err)
		}
	}
	if err := migrate(ctx, c); err != nil {
		return 0, err
	}
	if err := prepareAll(ctx, c); err != nil {
		return 0, err
	}
	nextID, ok, err := c.number(ctx, "next_id")
	if err == nil && (!ok || nextID >= core.IDLimit) {
		err = fmt.Errorf("%w: no job id is left", core.ErrCorrupt)
	}
	return nextID, err
}

// prepareAll prepares every statement, so that a file whose tables someone changed is refused at once and not by
// the first call that meets the gap.
func prepareAll(ctx context.Context, c *conn) error {
	for name := range statements {
		_, err := c.prepare(ctx, name)
		var fault *modernc.Error
		switch {
		case errors.As(err, &fault) && fault.Code() == lib.SQLITE_ERROR:
			return fmt.Errorf("%w: someone changed its tables: %w: put a backup in its place", core.ErrSchema, err)
		case err != nil:
			return err
		}
	}
	return nil
}

// resolve makes one name of the many a file can have, so that its lock file is one too.
func resolve(path string) (string, error) {
	if path == "" {
		return "", errors.New("a path is required")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if _, lstat := os.Lstat(path); lstat == nil {
		return "", err // a link that leads nowhere
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%w: make the directory first", err)
	}
	return filepath.Join(dir, filepath.Base(path)), err
}
