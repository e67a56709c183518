package sqlite

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/belfry-dev/belfry/core"
)

// SubmitOnce writes jobs and the answer they make under a key, or finds the answer of an earlier call. The writer
// runs one call after the other, so that none finds its key in flight.
func (s *Store) SubmitOnce(ctx context.Context, key core.IdempotencyKey, jobs []core.NewJob, render func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	var once core.Once
	var refused error // by render or by the key: not ours to wrap
	err := s.writer.run(ctx, func(t *tx) (err error) {
		once, refused = core.Once{}, nil
		if once, err = t.findKey(key); err != nil || once.Replayed {
			if errors.Is(err, core.ErrKeyReused) {
				refused = err
			}
			return err
		}
		answers, err := t.submitAll(jobs)
		if err != nil {
			return err
		}
		if once.Answer, refused = render(answers); refused != nil {
			return refused
		}
		once.Jobs = answers
		return t.keepKey(key, once.Answer)
	})
	switch {
	case refused != nil:
		return core.Once{}, refused
	case err != nil:
		return core.Once{}, wrap("submit once", err)
	}
	return once, nil
}

// SubmitOnceEach writes the jobs of many calls: the writer commits together what waits together.
func (s *Store) SubmitOnceEach(ctx context.Context, calls []core.OnceCall) ([]core.OnceAnswer, error) {
	answers := make([]core.OnceAnswer, len(calls))
	var group sync.WaitGroup
	seen := map[[2]string]bool{}
	for i := range calls {
		key := [2]string{calls[i].Key.Holder, calls[i].Key.Key}
		if seen[key] {
			answers[i].Err = core.ErrKeyInFlight
			continue
		}
		seen[key] = true
		group.Go(func() {
			c := &calls[i]
			answers[i].Once, answers[i].Err = s.SubmitOnce(ctx, c.Key, []core.NewJob{c.Job}, c.Render)
		})
	}
	group.Wait()
	return answers, nil
}

// findKey finds the answer kept under a key, if there is one.
func (t *tx) findKey(key core.IdempotencyKey) (once core.Once, err error) {
	found, err := t.row("find_key", key.Holder, key.Key, t.now)
	if err != nil || found == nil {
		return once, err
	}
	if hash, _ := found[0].([]byte); !bytes.Equal(hash, key.Hash[:]) {
		return once, core.ErrKeyReused
	}
	packed, _ := found[2].([]byte)
	once = core.Once{Replayed: true, Answer: core.Answer{Status: int(found.int(1))}}
	once.Answer.Body, err = core.UnpackAnswer(packed)
	return once, err
}

func (t *tx) keepKey(key core.IdempotencyKey, answer core.Answer) error {
	packed, err := core.PackAnswer(answer.Body)
	if err != nil {
		return err
	}
	_, err = t.exec("keep_key", key.Holder, key.Key, key.Hash[:], answer.Status, packed, t.now+key.Keep.Microseconds())
	return err
}
