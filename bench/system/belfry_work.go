package system

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/belfry-dev/belfry/adapters/local"
	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/functions/tick"
	"github.com/belfry-dev/belfry/functions/worker"
)

// Work runs a tick and a worker as cmd/local wires them: the submitter wakes the worker or, through topics,
// dispatches at submit.
func (b *belfrySystem) Work(ctx context.Context, handler func(seq int)) (func(context.Context) error, error) {
	var queue core.Queue
	if b.mem {
		q, err := local.Open(nil)
		if err != nil {
			return nil, err
		}
		queue = q
	}
	work, err := worker.New(worker.Options{
		Store: b.store, Queue: queue, Settings: b.settings, ID: "bench", Log: quiet(), Poll: 2 * b.settings.Tick,
		Handlers: core.Handlers{noop: core.HandlerFunc(func(_ context.Context, job *core.Job) (json.RawMessage, error) {
			seq, err := seqOf(job.Payload)
			if err == nil {
				handler(seq)
			}
			return nil, err
		})},
	})
	if err != nil {
		return nil, fmt.Errorf("belfry: worker: %w", err)
	}
	scheduler, err := tick.New(ctx, tick.Options{
		Store: b.store, Queue: queue, Settings: b.settings, Holder: "bench", Log: quiet(),
		Wake:        func([]core.Lane) { work.Wake() },
		Concurrency: map[core.Priority]int{core.Critical: b.settings.Workers, core.Default: b.settings.Workers, core.Bulk: b.settings.Workers},
	})
	if err != nil {
		return nil, fmt.Errorf("belfry: tick: %w", err)
	}
	if err := b.submitTo(work, scheduler); err != nil {
		return nil, err
	}
	roles, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 2)
	go func() { ended <- scheduler.Run(roles) }()
	go func() { ended <- work.Run(roles) }()
	return func(context.Context) error {
		cancel()
		return errors.Join(<-ended, <-ended)
	}, nil
}

// submitTo has what is submitted from now on started by these two without waiting for a poll or a tick.
func (b *belfrySystem) submitTo(work *worker.Function, scheduler *tick.Function) error {
	var store core.SubmitStore = b.store
	if b.mem {
		dispatching, err := submit.NewDispatcher(b.store, submit.DispatchOptions{
			Topics: scheduler.Topics(), TakeCredit: scheduler.TakeCredit,
		})
		if err != nil {
			return fmt.Errorf("belfry: %w", err)
		}
		store = dispatching
	}
	b.submit = submit.New(store, submit.Options{Wake: work.Wake})
	return nil
}

// seqOf reads {"seq":N} by hand: a handler of Belfry gets the payload's bytes, and what it does with them is its
// own cost, not the engine's. River decodes the arguments itself, before it calls the worker.
func seqOf(payload []byte) (int, error) {
	digits, ok := bytes.CutPrefix(payload, []byte(`{"seq":`))
	if !ok || len(digits) == 0 {
		return 0, fmt.Errorf("payload %s: want a seq", payload)
	}
	return strconv.Atoi(string(digits[:len(digits)-1]))
}
