package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

const (
	// finishLockWait bounds the wait for a row someone else has locked, here and for one row at a time. It is far
	// below any lease, and far above what the engine's own statements take.
	finishLockWait = 50 * time.Millisecond
	// finishSingly is how many locked rows one Finish tries singly; the others are Busy at once.
	finishSingly = 10
)

// Finish ends attempts; see core.WorkStore. In the usual case it is one transaction and one round trip. Where one of
// the rows is locked by someone else that transaction fails after finishLockWait and is sent again in a form that
// passes over locked rows.
func (s *Store) Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error) {
	answers := make([]core.EndAnswer, len(ends))
	f := finishing{s: s, answers: answers, at: make(map[core.Ref]int, len(ends))}
	for i := range ends {
		if _, double := f.at[ends[i].Ref]; double {
			answers[i].Repeat = true // answered from its first, below
			continue
		}
		f.at[ends[i].Ref] = i
		e, err := encodeEnd(&ends[i])
		if err != nil {
			return nil, fmt.Errorf("postgres: finish: job %d: %w", ends[i].ID, err)
		}
		f.ends = append(f.ends, e)
	}
	if err := f.finish(ctx); err != nil {
		return nil, err
	}
	for i := range ends {
		if first := f.at[ends[i].Ref]; first != i {
			answers[i] = answers[first]
			answers[i].Repeat = !answers[i].Stale && !answers[i].Busy
		}
	}
	return answers, nil
}

// end is an End as it is sent.
type end struct {
	*core.End
	errors []byte
}

func encodeEnd(e *core.End) (end, error) {
	if len(e.Errors) == 0 {
		return end{End: e}, nil
	}
	text, err := json.Marshal(e.Errors)
	return end{e, text}, err
}

// finishing is one Finish under way.
type finishing struct {
	s       *Store
	ends    []end
	answers []core.EndAnswer
	notes   string           // suffix of the statements that note failures
	at      map[core.Ref]int // place of an end in the answers
}

func (f *finishing) finish(ctx context.Context) error {
	if len(f.ends) == 0 {
		return nil
	}
	slices.SortFunc(f.ends, func(a, b end) int { return cmp.Compare(a.ID, b.ID) })
	err := f.send(ctx, f.optimistic)
	if hasCode(err, codeLockNotAvailable) || hasCode(err, codeDeadlock) {
		err = f.send(ctx, f.passingOver)
	}
	if err != nil {
		return wrap("finish", err)
	}
	missing := f.missing()
	if len(missing) == 0 {
		return nil
	}
	busy, err := f.state(ctx, missing)
	if err != nil {
		return err
	}
	return f.singly(ctx, busy)
}

// send sends the calls made for the usual history, and where a day has no partition those for the overflow.
func (f *finishing) send(ctx context.Context, calls func(suffix string) []wire.Call) error {
	// An end that is repeated gets the first answer.
	send := func(notes string) error {
		f.notes = notes
		return endVia(calls, func(calls ...wire.Call) error { return f.s.sendAs(ctx, engineShare, true, calls...) })
	}
	if !slices.ContainsFunc(f.ends, func(e end) bool { return e.Outcome == core.EndFail }) {
		return send("")
	}
	return f.s.noting(ctx, "finish", send)
}

// noting sends what ends jobs and notes those that failed for good. If that raises an error and all is well without the notes,
// they are left out, and named: an alert lacks them, but no job is held up.
func (s *Store) noting(ctx context.Context, act string, send func(notes string) error) error {
	err := send("")
	var fault *pgconn.PgError
	if !errors.As(err, &fault) || !isRowFault(fault) {
		return err
	}
	if send(unnotedSuffix) != nil {
		return err
	}
	// What was done stands, even if the fault cannot be named now: the next failure names it.
	_ = s.SetApart(ctx, []core.RowFault{{Kind: core.ApartNote, Act: act, Error: faultText(wrap(act, err))}})
	return nil
}

// optimistic ends those that are done in the cheap way, the others in the general one.
func (f *finishing) optimistic(suffix string) []wire.Call {
	done, others := f.ends, []end(nil)
	if slices.ContainsFunc(f.ends, notPlainlyDone) {
		done = nil
		for _, e := range f.ends {
			if notPlainlyDone(e) {
				others = append(others, e)
			} else {
				done = append(done, e)
			}
		}
	}
	calls := []wire.Call{f.s.guard(finishLockWait)}
	if len(done) > 0 {
		a := f.s.args(3)
		wire.Int8s(a, done, func(e *end) int64 { return e.ID })
		wire.Int8s(a, done, func(e *end) int64 { return e.Token })
		wire.JSONs(a, done, func(e *end) []byte { return e.Result })
		calls = append(calls, f.s.sql.call("finish_done"+suffix, a, f.answerTo(core.Done)))
	}
	if len(others) > 0 {
		calls = append(calls, f.general("finish"+suffix, others))
	}
	return calls
}

func notPlainlyDone(e end) bool { return e.Outcome != core.EndDone || e.Lost || len(e.errors) > 0 }

// passingOver ends all in the general way, which passes over locked rows.
func (f *finishing) passingOver(suffix string) []wire.Call {
	return []wire.Call{f.s.guard(finishLockWait), f.general("finish"+suffix, f.ends)}
}

func (f *finishing) general(name string, ends []end) wire.Call {
	a := f.s.args(8)
	wire.Int8s(a, ends, func(e *end) int64 { return e.ID })
	wire.Int8s(a, ends, func(e *end) int64 { return e.Token })
	wire.Int2s(a, ends, func(e *end) int16 { return int16(e.Outcome) })
	wire.Intervals(a, ends, func(e *end) time.Duration { return e.Wait })
	wire.JSONs(a, ends, func(e *end) []byte { return e.errors })
	wire.JSONs(a, ends, func(e *end) []byte { return e.Result })
	wire.Bools(a, ends, func(e *end) bool { return e.Lost }).Text(core.TargetWorkerID)
	return f.s.sql.call(name+f.notes, a, f.answerTo(0))
}

// answerTo reads ids and tokens that were ended, with their status unless all have the one given.
func (f *finishing) answerTo(status core.Status) func(wire.Row) error {
	return func(r wire.Row) error {
		status := status
		if status == 0 {
			status = core.Status(r.Int(2))
		}
		f.answers[f.at[core.Ref{ID: r.Int(0), Token: r.Int(1)}]].Status = status
		return nil
	}
}

// missing are the ends no statement has answered yet.
func (f *finishing) missing() (list []end) {
	for _, e := range f.ends {
		if f.answers[f.at[e.Ref]].Status == 0 {
			list = append(list, e)
		}
	}
	return list
}

// state answers those that were ended before or are stale, and returns those that someone else has locked.
func (f *finishing) state(ctx context.Context, missing []end) (busy []end, err error) {
	a := f.s.args(3)
	wire.Int8s(a, missing, func(e *end) int64 { return e.ID })
	wire.Int8s(a, missing, func(e *end) int64 { return e.Token })
	wire.Bools(a, missing, func(e *end) bool { return e.Lost })
	err = f.s.repeat(ctx, "finish", f.s.guard(finishLockWait), f.s.sql.call("finish_state", a, func(r wire.Row) error {
		e := missing[r.Int(0)-1]
		switch {
		case r.Bool(2):
			busy = append(busy, e)
		case r.Bool(3):
			f.answers[f.at[e.Ref]] = core.EndAnswer{Status: core.Status(r.Int(1)), Repeat: true}
		default:
			f.answers[f.at[e.Ref]] = core.EndAnswer{Stale: true}
		}
		return nil
	}))
	return busy, err
}

// singly ends a few locked rows one by one, each in a transaction of its own that waits a little.
func (f *finishing) singly(ctx context.Context, busy []end) error {
	for i, e := range busy {
		answer := &f.answers[f.at[e.Ref]]
		if i >= finishSingly {
			answer.Busy = true
			continue
		}
		err := f.send(ctx, func(suffix string) []wire.Call {
			return []wire.Call{f.s.guard(finishLockWait), f.general("finish"+waitingSuffix+suffix, []end{e})}
		})
		switch {
		case hasCode(err, codeLockNotAvailable) || hasCode(err, codeDeadlock):
			answer.Busy = true
		case err != nil:
			return wrap("finish", err)
		case answer.Status == 0: // its holder changed it
			if left, err := f.state(ctx, []end{e}); err != nil {
				return err
			} else if len(left) > 0 {
				answer.Busy = true
			}
		}
	}
	return nil
}
