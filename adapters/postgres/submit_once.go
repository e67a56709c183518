package postgres

import (
	"context"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// SubmitOnceEach writes the jobs of many calls with one statement; see core.SubmitStore. It may be sent again whatever became
// of it: the keys find what was written. Another statement looks for the answers of calls that wrote nothing.
func (s *Store) SubmitOnceEach(ctx context.Context, calls []core.OnceCall) ([]core.OnceAnswer, error) {
	s.serves.Store(true)
	answers := make([]core.OnceAnswer, len(calls))
	group, seen := make([]onceItem, 0, len(calls)), map[[2]string]bool{}
	for i := range calls {
		key := [2]string{calls[i].Key.Holder, calls[i].Key.Key}
		if answers[i].Err = core.ErrKeyInFlight; seen[key] {
			continue
		}
		packed, err := core.PackJob(&calls[i].Job)
		if err != nil {
			return nil, err
		}
		seen[key] = true
		group = append(group, onceItem{&calls[i], &answers[i], packed})
	}
	for round := 1; len(group) > 0; round++ {
		err := s.patiently(ctx, "", func() error { return s.onceEach(ctx, group) })
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

// onceEach is one try.
func (s *Store) onceEach(ctx context.Context, group []onceItem) error {
	for _, i := range group {
		*i.answer = core.OnceAnswer{Err: core.ErrKeyInFlight}
	}
	err := s.sendAs(ctx, changeShare, true, s.sql.call("submit_once", s.onceArgs(group), func(r wire.Row) error {
		*group[r.Int(0)-1].answer = core.OnceAnswer{Once: core.Once{Jobs: []core.Submitted{
			{ID: r.Int(1), RunAt: r.Time(2), CreatedAt: r.Time(3), Status: core.Status(r.Int(4)), Token: firstToken},
		}}}
		return nil
	}))
	if err != nil {
		return err
	}
	var late []onceItem
	for _, i := range group {
		if i.answer.Err != nil {
			late = append(late, i)
		}
	}
	if len(late) == 0 {
		return nil
	}
	at := 0
	return s.sendAs(ctx, changeShare, true, s.guard(glanceWait), s.sql.call("find_keys", onceKeys(s.args(3), late), func(r wire.Row) (err error) {
		i := late[at]
		switch at++; {
		case r.Null(0):
		case string(r.Bytes(0)) != string(i.Key.Hash[:]):
			i.answer.Err = core.ErrKeyReused
		default:
			i.answer.Once, err = core.ReadKept(int(r.Int(1)), r.Bytes(2))
			i.answer.Err = nil
		}
		return err
	}))
}

func (s *Store) onceArgs(group []onceItem) *wire.Args {
	items := make([]item, len(group))
	for at, i := range group {
		items[at] = item{&i.Job, at}
	}
	a := onceKeys(s.submitArgs(items), group)
	wire.Int8s(a, group, func(i *onceItem) int64 { return keyNumber(i.Key) })
	wire.Byteas(a, group, func(i *onceItem) []byte { return i.Key.Hash[:] })
	wire.Byteas(a, group, func(i *onceItem) []byte { return i.packed })
	return wire.Intervals(a, group, func(i *onceItem) time.Duration { return i.Key.Keep })
}

// onceKeys adds holders and keys.
func onceKeys(a *wire.Args, group []onceItem) *wire.Args {
	wire.Texts(a, group, func(i *onceItem) string { return i.Key.Holder })
	return wire.Texts(a, group, func(i *onceItem) string { return i.Key.Key })
}
