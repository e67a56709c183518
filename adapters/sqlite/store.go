package sqlite

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// Store is a core.Store in one file.
type Store struct {
	clock   *clock
	writer  *writer
	readers *readers
	lock    *fileLock

	leases holders // what each holder held at its last tick

	listWindow int64 // a test's own, in place of the constant. Zero in production

	closing sync.Once
	closed  error
}

var _ core.Store = (*Store)(nil)

// Now is the store's clock.
func (s *Store) Now(context.Context) (time.Time, error) { return instant(s.clock.now()), nil }

// Ping reports whether the store can accept jobs: a transaction that may write can be begun and ended.
func (s *Store) Ping(ctx context.Context) error {
	return wrap("ping", s.writer.run(ctx, func(t *tx) error {
		said, _, err := t.number("PRAGMA user_version")
		if err != nil {
			return err
		}
		return version{applied: said, oldest: said, said: said}.fits()
	}))
}

// Checkpoint brings all that was committed from the write-ahead log into the file and empties the log. Readers
// in the middle of a read may leave a part of it for the next time.
func (s *Store) Checkpoint(ctx context.Context) error {
	return wrap("checkpoint", s.writer.runAlone(ctx, func(t *tx) error {
		_, err := t.exec("PRAGMA wal_checkpoint(TRUNCATE)")
		return err
	}))
}

// Close lets the writes already begun finish, brings everything into the one file and gives the file free.
// Calls that come later are refused with core.ErrUnavailable. Closing again answers the same.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.writer.close()
		ctx := context.Background()
		c := s.writer.conn
		err := s.readers.close() // readers first: the log can then be emptied
		_, _ = c.exec(ctx, "set_meta", unclosed, int64(0))
		_, checkpoint := c.exec(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		s.closed = wrap("close", errors.Join(err, checkpoint, c.close(), s.writer.ids.close(s.writer.nextID), s.lock.release()))
	})
	return s.closed
}
