package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/apart"
)

// SubmitOnceEach writes the jobs of many calls with one statement, or with two if a key is already kept; see core.SubmitStore.
// It can safely be sent again: the keys find what was written. One more statement reads the answers of calls that wrote
// nothing.
func (s *Store) SubmitOnceEach(ctx context.Context, calls []core.OnceCall) ([]core.OnceAnswer, error) {
	s.serves.Store(true)
	answers := make([]core.OnceAnswer, len(calls))
	group, seen := make([]onceItem, 0, len(calls)), make(map[[2]string]struct{}, len(calls))
	for i := range calls {
		answers[i].Err = core.ErrKeyInFlight
		if seen[[2]string{calls[i].Key.Holder, calls[i].Key.Key}] = struct{}{}; len(seen) == len(group) {
			continue // the key of another call of the group
		}
		packed, err := core.PackJob(&calls[i].Job)
		if err != nil {
			return nil, err
		}
		group = append(group, onceItem{&calls[i], &answers[i], packed})
	}
	for round := 1; len(group) > 0; round++ {
		err := s.withNewIDs(ctx, func() error { return s.patiently(ctx, "", func() error { return s.onceEach(ctx, group) }) })
		if again := hasCode(err, codeSerialization) || hasCode(err, codeDeadlock); !again || round == submitRounds {
			return answers, wrap("submit once", err)
		}
	}
	return answers, nil
}

// onceItem is one call and its answer, in flight until more is known.
type onceItem struct {
	*core.OnceCall
	answer *core.OnceAnswer
	packed []byte
}

// carefulGroups is how many groups are written by submit_once after one in which a key was known already: repeated calls tend
// to come together, and each that submit_once_fresh meets costs a roll-back and a line in the server's log.
const carefulGroups = 100

// freshKeys says by which statement the next group is written.
type freshKeys struct{ careful atomic.Int64 }

// next returns the name of the statement.
func (f *freshKeys) next() string {
	if f.careful.Load() > 0 {
		f.careful.Add(-1)
		return "submit_once"
	}
	return "submit_once_fresh"
}

// metKnown has the next groups written with care.
func (f *freshKeys) metKnown() { f.careful.Store(carefulGroups) }

// onceEach is one try.
func (s *Store) onceEach(ctx context.Context, group []onceItem) error {
	err := s.writeOnce(ctx, s.freshKeys.next(), group)
	if hasCode(err, codeUniqueViolation) && !isIDFault(err) {
		s.freshKeys.metKnown()
		err = s.writeOnce(ctx, "submit_once", group)
	}
	if err != nil {
		return err
	}
	return s.answerLate(ctx, group)
}

// writeOnce writes the jobs of a group by a statement. What it does not write stays in flight.
func (s *Store) writeOnce(ctx context.Context, statement string, group []onceItem) error {
	for _, i := range group {
		*i.answer = core.OnceAnswer{Err: core.ErrKeyInFlight}
	}
	jobs := make([]core.Submitted, len(group))
	return s.sendAs(ctx, changeShare, true, s.sql.call(statement, s.onceArgs(group), func(r wire.Row) error {
		at := r.Int(0) - 1
		s.given.note(r.Int(1))
		jobs[at] = core.Submitted{ID: r.Int(1), RunAt: r.Time(2), CreatedAt: r.Time(3), Status: core.Status(r.Int(4)), Token: firstToken}
		*group[at].answer = core.OnceAnswer{Once: core.Once{Jobs: jobs[at : at+1 : at+1]}}
		return nil
	}))
}

// answerLate looks for the answers of calls that wrote nothing.
func (s *Store) answerLate(ctx context.Context, group []onceItem) error {
	var late []onceItem
	for _, i := range group {
		if i.answer.Err != nil {
			late = append(late, i)
		}
	}
	if len(late) == 0 {
		return nil
	}
	return apart.Halve(ctx, late, func(part []onceItem) error {
		at := 0
		return unreadableKey(s.sendAs(ctx, changeShare, true, s.guard(glanceWait), s.sql.call("find_keys", onceKeys(s.args(3), part), func(r wire.Row) error {
			i := part[at]
			if at++; !r.Null(0) {
				i.answer.Once, i.answer.Err = readKept(i.Key, r)
				s.freshKeys.metKnown()
			}
			return nil
		})))
	}, func(i onceItem, err error) error {
		i.answer.Err = err
		return nil
	})
}

func (s *Store) onceArgs(group []onceItem) *wire.Args {
	items := make([]item, len(group))
	for at, i := range group {
		items[at] = item{&i.Job, at}
	}
	a := onceKeys(s.submitArgs(items, 7), group)
	wire.Int8s(a, group, func(i *onceItem) int64 { return keyNumber(i.Key) })
	wire.Byteas(a, group, func(i *onceItem) []byte { return i.Key.Hash[:] })
	wire.Byteas(a, group, func(i *onceItem) []byte { return i.packed })
	return wire.Intervals(a, group, func(i *onceItem) time.Duration { return i.Key.Keep }).Int8(s.given.highest.Load())
}

// onceKeys adds holders and keys.
func onceKeys(a *wire.Args, group []onceItem) *wire.Args {
	wire.Texts(a, group, func(i *onceItem) string { return i.Key.Holder })
	return wire.Texts(a, group, func(i *onceItem) string { return i.Key.Key })
}
