package sqlite

import (
	"bytes"
	"context"
	"errors"

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
			if errors.Is(err, core.ErrKeyReused) || errors.Is(err, core.ErrKeyDamaged) {
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

// SubmitOnceEach writes the jobs of many calls in one transaction.
func (s *Store) SubmitOnceEach(ctx context.Context, calls []core.OnceCall) ([]core.OnceAnswer, error) {
	packed := make([][]byte, len(calls))
	for i := range calls {
		var err error
		if packed[i], err = core.PackJob(&calls[i].Job); err != nil {
			return nil, err
		}
	}
	var answers []core.OnceAnswer
	err := s.writer.run(ctx, func(t *tx) error {
		answers = make([]core.OnceAnswer, len(calls))
		seen := make(map[[2]string]bool, len(calls))
		for i := range calls {
			key := [2]string{calls[i].Key.Holder, calls[i].Key.Key}
			if seen[key] {
				answers[i].Err = core.ErrKeyInFlight
				continue
			}
			seen[key] = true
			once, err := t.submitOnce(&calls[i], packed[i])
			if errors.Is(err, core.ErrKeyReused) || errors.Is(err, core.ErrKeyDamaged) {
				answers[i].Err, err = err, nil
			}
			if err != nil {
				return err
			}
			answers[i].Once = once
		}
		return nil
	})
	return answers, wrap("submit once", err)
}

// submitOnce writes a job and keeps the outcome under its key, or finds the outcome of an earlier call.
func (t *tx) submitOnce(c *core.OnceCall, packed []byte) (core.Once, error) {
	answer := t.plan(&c.Job)
	kept, err := t.keep(c.Key, 0, append(core.KeptHead(answer), packed...))
	if err != nil {
		return core.Once{}, err
	}
	if !kept {
		return t.findKey(c.Key)
	}
	return core.Once{Jobs: []core.Submitted{answer}}, t.write(&c.Job, answer)
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
	return core.ReadKept(int(found.int(1)), packed)
}

func (t *tx) keepKey(key core.IdempotencyKey, answer core.Answer) error {
	packed, err := core.PackAnswer(answer.Body)
	if err != nil {
		return err
	}
	_, err = t.keep(key, answer.Status, packed)
	return err
}

// keep reports whether what is kept now is answer; where something else is, that stays.
func (t *tx) keep(key core.IdempotencyKey, status int, answer []byte) (bool, error) {
	n, err := t.exec("keep_key", key.Holder, key.Key, key.Hash[:], status, answer, t.now+key.Keep.Microseconds(), t.now)
	return n > 0, err
}
