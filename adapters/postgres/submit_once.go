package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// SubmitOnceEach writes the jobs of many calls in one transaction of two round trips; see core.SubmitStore. It waits for no
// lock: keys are tried, and the rows are new. Between the round trips the answers are made, which only computes.
func (s *Store) SubmitOnceEach(ctx context.Context, calls []core.OnceCall) ([]core.OnceAnswer, error) {
	answers := make([]core.OnceAnswer, len(calls))
	group, seen := make([]*onceItem, 0, len(calls)), map[[2]string]bool{}
	for i := range calls {
		key := [2]string{calls[i].Key.Holder, calls[i].Key.Key}
		if answers[i].Err = core.ErrKeyInFlight; !seen[key] {
			seen[key], answers[i].Err = true, nil
			group = append(group, &onceItem{OnceCall: &calls[i], answer: &answers[i]})
		}
	}
	for round := 1; len(group) > 0; {
		var gone bool
		err := s.patiently(ctx, "", func() (err error) {
			gone, err = s.onceEach(ctx, group)
			return err
		})
		if errors.Is(err, errRendered) {
			group = withoutFailed(group)
			continue
		}
		again := hasCode(err, codeSerialization) || hasCode(err, codeDeadlock) || wire.Outdated(err)
		if gone && err != nil { // whatever became of it, the keys find it
			s.Thawed()
			again = round < maxSends && ctx.Err() == nil
		}
		if !again || round == submitRounds {
			return answers, wrap("submit once", err)
		}
		round++
	}
	return answers, nil
}

// onceItem is one call and its answer.
type onceItem struct {
	*core.OnceCall
	answer *core.OnceAnswer
	packed []byte // the answer as it is kept
}

// errRendered ends a group of which an answer could not be made: that one's job must not be written.
var errRendered = errors.New("an answer could not be made")

// onceEach is one try, in a transaction of its own.
func (s *Store) onceEach(ctx context.Context, group []*onceItem) (gone bool, err error) {
	leave, err := s.shares.enter(ctx, changeShare)
	if err != nil {
		return false, err
	}
	defer leave()
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release() // one that is still in a transaction is closed by it, and the server rolls back
	pg := conn.Conn().PgConn()
	fresh, err := s.writeOnce(ctx, pg, group)
	if err == nil {
		err = renderOnce(fresh)
	}
	if err == nil && len(fresh) > 0 {
		err = wire.Run(ctx, pg, s.keepKeys(fresh), wire.Call{SQL: "COMMIT"})
		return pg.IsClosed(), err
	}
	if !pg.IsClosed() {
		if ended := pg.Exec(ctx, "ROLLBACK").Close(); err == nil {
			err = ended
		}
	}
	return pg.IsClosed(), err
}

// renderOnce makes the answers.
func renderOnce(fresh []*onceItem) (failed error) {
	for _, i := range fresh {
		var err error
		if i.answer.Answer, err = i.Render(i.answer.Jobs); err == nil {
			i.packed, err = core.PackAnswer(i.answer.Answer.Body)
		}
		if err != nil {
			*i.answer = core.OnceAnswer{Err: err}
			failed = errRendered
		}
	}
	return failed
}

// withoutFailed are the calls that have no error of their own.
func withoutFailed(group []*onceItem) (rest []*onceItem) {
	for _, i := range group {
		if i.answer.Err == nil {
			rest = append(rest, i)
		}
	}
	return rest
}

// writeOnce begins a transaction, takes the keys' locks and then, in snapshots that are younger, looks for their answers and
// writes the jobs of those without one, which it returns.
func (s *Store) writeOnce(ctx context.Context, pg *pgconn.PgConn, group []*onceItem) (fresh []*onceItem, err error) {
	items := make([]item, len(group))
	for at, i := range group {
		items[at] = item{&i.Job, at}
	}
	numbers := wire.Int8s(wire.NewArgs(1), group, func(i **onceItem) int64 { return keyNumber((*i).Key) })
	find := onceKeys(s.args(3), group)
	write := onceKeys(s.submitArgs(items), group)
	looked, written := 0, 0
	err = wire.Run(ctx, pg, wire.Call{SQL: "BEGIN"}, s.guard(glanceWait), s.sql.call("bound_idle", wire.NewArgs(1).Text(onceIdle.String()), nil),
		s.sql.call("hold_keys", numbers, nil),
		s.sql.call("find_keys", find, func(r wire.Row) error {
			i := group[looked]
			looked++
			if err := i.found(r); err != nil {
				return err
			}
			if i.answer.Err == nil && !i.answer.Replayed {
				fresh = append(fresh, i)
			}
			return nil
		}),
		s.sql.call("submit_once", write, func(r wire.Row) error {
			if written < len(fresh) {
				fresh[written].answer.Jobs = []core.Submitted{{ID: r.Int(0), RunAt: r.Time(1), CreatedAt: r.Time(2), Status: core.Status(r.Int(3)), Token: firstToken}}
			}
			written++
			return nil
		}))
	if err == nil && (looked != len(group) || written != len(fresh)) {
		err = errors.New("the keys changed under their locks")
	}
	return fresh, err
}

// found takes in what is kept under a key.
func (i *onceItem) found(r wire.Row) (err error) {
	*i.answer = core.OnceAnswer{}
	switch hash := r.Bytes(1); {
	case r.Null(1) && !r.Bool(0):
		i.answer.Err = core.ErrKeyInFlight
	case r.Null(1):
	case string(hash) != string(i.Key.Hash[:]):
		i.answer.Err = core.ErrKeyReused
	default:
		i.answer.Replayed, i.answer.Answer.Status = true, int(r.Int(2))
		i.answer.Answer.Body, err = core.UnpackAnswer(r.Bytes(3))
	}
	return err
}

// onceKeys adds holders, keys and their numbers.
func onceKeys(a *wire.Args, group []*onceItem) *wire.Args {
	wire.Texts(a, group, func(i **onceItem) string { return (*i).Key.Holder })
	wire.Texts(a, group, func(i **onceItem) string { return (*i).Key.Key })
	return wire.Int8s(a, group, func(i **onceItem) int64 { return keyNumber((*i).Key) })
}

// keepKeys keeps the answers.
func (s *Store) keepKeys(fresh []*onceItem) wire.Call {
	a := s.args(6)
	wire.Texts(a, fresh, func(i **onceItem) string { return (*i).Key.Holder })
	wire.Texts(a, fresh, func(i **onceItem) string { return (*i).Key.Key })
	wire.Byteas(a, fresh, func(i **onceItem) []byte { return (*i).Key.Hash[:] })
	wire.Int8s(a, fresh, func(i **onceItem) int64 { return int64((*i).answer.Answer.Status) })
	wire.Byteas(a, fresh, func(i **onceItem) []byte { return (*i).packed })
	wire.Intervals(a, fresh, func(i **onceItem) time.Duration { return (*i).Key.Keep })
	return s.sql.call("keep_keys", a, nil)
}
