package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// sequencesBehind are the sequences of ids that rows are ahead of, as some ways to restore a backup leave them: the ids
// that they give next are taken. And those that stand where ids are never given, of which soon none would be left. Rows that
// were damaged to have such an id do not count; see core.IDLimit.
const sequencesBehind = `
    SELECT s.name, coalesce(s.highest, 1) AS highest
    FROM  (VALUES
        ('belfry.job_ids'::regclass, greatest(nullif($1::bigint, 0),
            (SELECT max(id) FROM belfry.jobs WHERE id < 4611686018427387904), (SELECT max(id) FROM belfry.dead_letters WHERE id < 4611686018427387904),
            (SELECT max(id) FROM belfry.job_history WHERE id < 4611686018427387904), (SELECT max(id) FROM belfry.job_history_overflow WHERE id < 4611686018427387904))),
        ('belfry.schedule_ids'::regclass, greatest(
            (SELECT max(id) FROM belfry.schedules WHERE id < 4611686018427387904), (SELECT max(schedule_id) FROM belfry.occurrences WHERE schedule_id < 4611686018427387904))),
        (pg_get_serial_sequence('belfry.alerts', 'id')::regclass, (SELECT max(id) FROM belfry.alerts WHERE id < 4611686018427387904)),
        (pg_get_serial_sequence('belfry.failure_notes', 'id')::regclass, (SELECT max(id) FROM belfry.failure_notes WHERE id < 4611686018427387904))
    ) AS s (name, highest)
    WHERE s.highest > coalesce(pg_sequence_last_value(s.name), 0) OR pg_sequence_last_value(s.name) >= 4611686018427387904`

// newJobID is the next id, or null if the sequence was put back and would give an id twice. The table refuses null, so the
// statement writes nothing. $1 is the number of the parameter with the highest id that this store knows to be given.
const newJobID = "CASE WHEN nextval('belfry.job_ids'::regclass) > $1::bigint THEN currval('belfry.job_ids'::regclass) END"

// givenIDs is the highest id that this store knows to be given.
type givenIDs struct{ highest atomic.Int64 }

// note takes an id into account. One that is never given was written by somebody else.
func (g *givenIDs) note(id int64) {
	for {
		known := g.highest.Load()
		if id <= known || id >= core.IDLimit || g.highest.CompareAndSwap(known, id) {
			return
		}
	}
}

// withNewIDs sends what gives jobs their ids. If the sequence was put back under the running store, or is at its end, it is put
// right and the same is sent once more: nothing of it was written.
func (s *Store) withNewIDs(ctx context.Context, send func() error) error {
	err := send()
	if !isIDFault(err) {
		return err
	}
	if failed := s.mendSequences(ctx); failed != nil {
		return failed
	}
	return send()
}

// isIDFault reports whether the sequence of ids is why nothing was written: it gave an id that was given before, or has none left.
func isIDFault(err error) bool {
	var fault *pgconn.PgError
	if !errors.As(err, &fault) {
		return false
	}
	switch fault.Code {
	case codeNotNull:
		return fault.TableName == "jobs" && fault.ColumnName == "id" || fault.TableName == "idempotency_keys" && fault.ColumnName == "answer"
	case codeUniqueViolation:
		return fault.ConstraintName == "jobs_pkey"
	}
	return fault.Code == codeSequenceEnd
}

// mendSequences puts sequences that are behind their rows ahead of them, so that no id is given twice. Where this role
// may not do that it is core.ErrUnsafe, with what to run.
func (s *Store) mendSequences(ctx context.Context) error {
	var statements []string
	err := s.repeat(ctx, "compare ids", s.sql.call("sequences_behind", s.givenArgs(), func(r wire.Row) error {
		statements = append(statements, setSequence(r.Text(0), r.Int(1)))
		return nil
	}), s.lastID())
	if errors.Is(err, core.ErrReadOnly) {
		return nil // a role that may not look at the sequences gives no ids
	}
	if err != nil || len(statements) == 0 {
		return err
	}
	err = s.repeat(ctx, "mend ids", s.sql.call("lock_sequences", nil, nil), s.sql.call("mend_sequences", s.givenArgs(), nil), s.lastID())
	if errors.Is(err, core.ErrReadOnly) {
		return wrap("mend ids", core.Advise(core.ErrUnsafe, "ids would be given twice, because sequences are behind the rows; run "+strings.Join(statements, "; ")))
	}
	if err == nil {
		s.warn("sequences were behind the rows, as after some kinds of restore, or at the end of the numbers; they were put right: " + strings.Join(statements, "; "))
	}
	return err
}

// lastID asks how far ids have been given. It comes after what puts the sequence right.
func (s *Store) lastID() wire.Call {
	return s.sql.call("last_job_id", wire.NewArgs(0), func(r wire.Row) error {
		s.given.note(r.Int(0))
		return nil
	})
}

func (s *Store) givenArgs() *wire.Args { return wire.NewArgs(1).Int8(s.given.highest.Load()) }

func setSequence(name string, highest int64) string {
	return fmt.Sprintf("SELECT setval('%s', %d)", name, highest)
}
