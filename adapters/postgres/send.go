package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
)

// run sends the engine's calls as one transaction in one round trip.
func (s *Store) run(ctx context.Context, act string, calls ...wire.Call) error {
	return wrap(act, s.send(ctx, calls...))
}

// send is run without the translation of errors.
func (s *Store) send(ctx context.Context, calls ...wire.Call) error {
	return s.sendAs(ctx, engineShare, false, calls...)
}

// repeat is run for calls that may be sent again when it is not known whether the server carried them out.
func (s *Store) repeat(ctx context.Context, act string, calls ...wire.Call) error {
	return wrap(act, s.sendAs(ctx, engineShare, true, calls...))
}

// end is run for calls that write history: where the day has no partition they are sent again in the form that
// writes to the overflow table. calls is asked for them with the suffix of the statements' names.
func (s *Store) end(ctx context.Context, act string, calls func(suffix string) []wire.Call) error {
	return wrap(act, endVia(calls, func(calls ...wire.Call) error { return s.send(ctx, calls...) }))
}

// read sends a user's calls that change nothing.
func (s *Store) read(ctx context.Context, act string, calls ...wire.Call) error {
	return wrap(act, s.patiently(ctx, "", func() error { return s.sendAs(ctx, readShare, true, calls...) }))
}

// write sends a user's calls as one transaction. subject names what they change, where others may hold it: calls of one
// subject wait in one place.
func (s *Store) write(ctx context.Context, act, subject string, calls ...wire.Call) error {
	return wrap(act, s.sendWrite(ctx, subject, calls...))
}

// sendWrite is write without the translation of errors.
func (s *Store) sendWrite(ctx context.Context, subject string, calls ...wire.Call) error {
	return s.patiently(ctx, subject, func() error { return s.sendAs(ctx, changeShare, false, calls...) })
}

// writeEnd is write for calls that write history; see end.
func (s *Store) writeEnd(ctx context.Context, act, subject string, calls func(suffix string) []wire.Call) error {
	return wrap(act, s.patiently(ctx, subject, func() error {
		return endVia(calls, func(calls ...wire.Call) error { return s.sendAs(ctx, changeShare, false, calls...) })
	}))
}

func endVia(calls func(suffix string) []wire.Call, send func(...wire.Call) error) error {
	err := send(calls("")...)
	if hasCode(err, codeNoPartition) {
		err = send(calls(overflowSuffix)...)
	}
	return err
}

// maxSends bounds how often calls are sent that meet a connection that is gone.
const maxSends = 3

// sendAs sends calls on a connection of the share. Where the connection turns out to be gone they are sent again on
// another one: if the server certainly did nothing, or if again says that a repetition does no harm.
func (s *Store) sendAs(ctx context.Context, of share, again bool, calls ...wire.Call) error {
	err := s.sendOn(ctx, of, again, calls...)
	s.tellRights(ctx, err)
	return err
}

// sendOn is sendAs that tells nobody of missing rights.
func (s *Store) sendOn(ctx context.Context, of share, again bool, calls ...wire.Call) error {
	if s.intercept != nil {
		if err := s.intercept(calls); err != nil {
			return err
		}
	}
	if err := s.shares.enter(ctx, of); err != nil {
		return err
	}
	defer s.shares.leave(of)
	for sent := 1; ; sent++ {
		rows, gone, err := s.sendOnce(ctx, calls)
		if gone {
			s.AfterFreeze() // what ended this connection may have ended the others: each is asked before its next use
		}
		switch {
		case err == nil:
			return nil
		case rows > 0 && hasCode(err, codeLockNotAvailable):
			return errStillLocked // rows were passed on already, and would be twice
		case rows > 0 || !gone || sent == maxSends || ctx.Err() != nil || !again && !undone(err):
			return err
		}
	}
}

// sendOnce sends calls on any connection. It says how many rows were passed on, and whether the connection is gone.
func (s *Store) sendOnce(ctx context.Context, calls []wire.Call) (rows int, gone bool, err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		var connecting *pgconn.ConnectError
		return 0, undone(err) && !errors.As(err, &connecting), err
	}
	defer conn.Release()
	pg := conn.Conn().PgConn()
	if !wire.IsSession(pg) && calls[0].Args != nil && calls[0].SQL != s.sql["guard"] {
		calls = append([]wire.Call{s.sql.call("session_guard", wire.NewArgs(1).Text(milliseconds(sessionLockWait)), nil)}, calls...)
	}
	rows, err = wire.RunCounted(ctx, pg, calls...)
	return rows, pg.IsClosed(), err
}

// undone reports whether calls on a connection that is gone certainly had no effect: the end of the transaction was not
// sent, or the server ended the session and said so, which it does before it commits or after it rolled back.
func undone(err error) bool {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		switch {
		case server.Severity != "FATAL":
			return false
		case server.Code == codeProtocolViolation: // PgBouncer, before it handed anything on
			return server.Message == "invalid server parameter" || server.Message == "query_wait_timeout"
		}
		return server.Code == codeAdminShutdown || server.Code == codeIdleSession || server.Code == codeIdleInTransaction
	}
	return errors.Is(err, wire.ErrUnsent) || pgconn.SafeToRetry(err)
}

// milliseconds is a duration as the server's settings take it.
func milliseconds(d time.Duration) string { return fmt.Sprintf("%dms", max(d.Milliseconds(), 1)) }
