package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// onceIdle is how long the transaction of a SubmitOnce may wait for this process before the server ends it: it is
// open while the answer is made, which only computes.
const onceIdle = 10 * time.Second

// SubmitOnce writes jobs and the answer they make under a key, or finds the answer of an earlier call; see
// core.SubmitStore. The answer holds what the rows came to, so the transaction stays open for two round trips more
// than any other. What it holds meanwhile stops nobody: the key's lock is tried and never waited for, and its rows
// are new. Only a dedupe key among them may be waited for by others, as always for at most a lock timeout.
func (s *Store) SubmitOnce(ctx context.Context, key core.IdempotencyKey, jobs []core.NewJob, render func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	s.serves.Store(true)
	for round := 1; ; round++ {
		var once core.Once
		var gone bool
		err := s.patiently(ctx, keySubject(jobs), func() (err error) {
			once, gone, err = s.submitOnce(ctx, key, jobs, render)
			return err
		})
		again := hasCode(err, codeSerialization) || hasCode(err, codeDeadlock) || wire.Outdated(err)
		if gone && err != nil { // if it was committed, the key finds it
			s.AfterFreeze()
			again = round < maxSends && ctx.Err() == nil
		}
		if !again || round == submitRounds {
			s.tellRights(ctx, err)
			return once, wrapOnce(err)
		}
	}
}

// wrapOnce leaves what render and the key say as it is.
func wrapOnce(err error) error {
	var refused *renderError
	switch {
	case errors.As(err, &refused):
		return refused.err
	case errors.Is(err, core.ErrKeyInFlight), errors.Is(err, core.ErrKeyReused), errors.Is(err, core.ErrKeyDamaged):
		return err
	}
	return wrap("submit once", err)
}

// renderError is an error of the caller's own.
type renderError struct{ err error }

func (e *renderError) Error() string { return e.err.Error() }

// submitOnce is one try, in a transaction of its own.
func (s *Store) submitOnce(ctx context.Context, key core.IdempotencyKey, jobs []core.NewJob, render func([]core.Submitted) (core.Answer, error)) (once core.Once, gone bool, err error) {
	if err := s.shares.enter(ctx, changeShare); err != nil {
		return once, false, err
	}
	defer s.shares.leave(changeShare)
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return once, false, err
	}
	defer conn.Release() // one that is still in a transaction is closed by it, and the server rolls back
	pg := conn.Conn().PgConn()
	if err := pg.Exec(ctx, "BEGIN").Close(); err != nil {
		return once, pg.IsClosed(), err
	}
	once, err = s.onceInTx(ctx, pg, key, jobs, render)
	end := "COMMIT"
	if err != nil || once.Replayed {
		end = "ROLLBACK"
	}
	if pg.IsClosed() {
		return once, true, err
	}
	if ended := pg.Exec(ctx, end).Close(); err == nil && !once.Replayed {
		err = ended
	}
	return once, pg.IsClosed(), err
}

// onceInTx finds the key's answer, or writes the jobs and keeps what they come to.
func (s *Store) onceInTx(ctx context.Context, pg *pgconn.PgConn, key core.IdempotencyKey, jobs []core.NewJob, render func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	once, err := s.findKey(ctx, pg, key)
	if err != nil || once.Replayed {
		return once, err
	}
	answers, calls := s.submitCalls(jobs)
	if len(calls) > 0 {
		if err := wire.Run(ctx, pg, calls...); err != nil {
			return core.Once{}, err
		}
	}
	answer, err := render(answers)
	if err != nil {
		return core.Once{}, &renderError{err}
	}
	return core.Once{Answer: answer, Jobs: answers}, s.keepKey(ctx, pg, key, answer)
}

// findKey takes the key's lock and then, in a snapshot that is younger, looks for its answer.
func (s *Store) findKey(ctx context.Context, pg *pgconn.PgConn, key core.IdempotencyKey) (once core.Once, err error) {
	held := false
	var fault error
	err = wire.Run(ctx, pg, s.guard(glanceWait), s.sql.call("bound_idle", wire.NewArgs(1).Text(onceIdle.String()), nil),
		s.sql.call("hold_key", wire.NewArgs(1).Int8(keyNumber(key)), func(r wire.Row) error {
			held = r.Bool(0)
			return nil
		}),
		s.sql.call("find_key", s.args(2).Text(key.Holder).Text(key.Key), func(r wire.Row) (err error) {
			once, fault = readKept(key, r)
			once.Replayed = true
			return nil
		}))
	switch {
	case err != nil:
		return core.Once{}, unreadableKey(err)
	case fault != nil:
		return core.Once{}, fault
	case !once.Replayed && !held:
		return core.Once{}, core.ErrKeyInFlight
	}
	return once, nil
}

// readKept reads what is kept under a key: hash, status and answer.
func readKept(key core.IdempotencyKey, r wire.Row) (core.Once, error) {
	if string(r.Bytes(0)) != string(key.Hash[:]) {
		return core.Once{}, core.ErrKeyReused
	}
	return core.ReadKept(int(r.Int(1)), r.Bytes(2))
}

// unreadableKey makes core.ErrKeyDamaged and core.ErrRow of the error of a statement that only reads kept answers, if a row raised it.
func unreadableKey(err error) error {
	var server *pgconn.PgError
	if errors.As(err, &server) && isRowFault(server) {
		return fmt.Errorf("%w: %w: %s (SQLSTATE %s)", core.ErrKeyDamaged, core.ErrRow, server.Message, server.Code)
	}
	return err
}

func (s *Store) keepKey(ctx context.Context, pg *pgconn.PgConn, key core.IdempotencyKey, answer core.Answer) error {
	packed, err := core.PackAnswer(answer.Body)
	if err != nil {
		return err
	}
	kept := false
	a := s.args(6).Text(key.Holder).Text(key.Key).Bytes(key.Hash[:]).Int8(int64(answer.Status)).Bytes(packed).Interval(key.Keep)
	err = wire.Run(ctx, pg, s.sql.call("keep_key", a, func(wire.Row) error {
		kept = true
		return nil
	}))
	if err == nil && !kept {
		return core.ErrKeyInFlight // someone wrote it who does not hold its lock
	}
	return err
}

// keyNumber names a key among advisory locks. Two that share a number would only take turns.
func keyNumber(key core.IdempotencyKey) int64 {
	name := append(make([]byte, 0, 128), "belfry idempotency key\x00"...)
	name = append(append(append(name, key.Holder...), 0), key.Key...)
	sum := sha256.Sum256(name)
	return int64(binary.BigEndian.Uint64(sum[:8]))
}

// dropKeys deletes keys that are past their time.
func (s *Store) dropKeys(ctx context.Context, _ core.MaintainRequest, _ *core.MaintainResult) error {
	_, err := s.batches(ctx, "drop_keys", 0)
	return err
}
