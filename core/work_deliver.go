package core

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// noHandlerWait is when a job is looked at again that has no target and whose type no handler here runs.
const noHandlerWait = 30 * time.Second

// delivers reports whether the worker delivers jobs to targets, beside what its handlers do.
func (w *Worker) delivers() bool { return w.opts.Deliver != nil && w.opts.Types != nil }

// work finds who does a job's work: whoever delivers it, where it has a target of its own or its type has one, else the
// handler of its type. Nil: nobody here.
func (w *Worker) work(a *attempt) Handler {
	if w.opts.Deliver == nil {
		return w.handlers[a.job.Type]
	}
	if a.job.Target != nil {
		return w.opts.Deliver
	}
	if w.opts.Types != nil {
		if known, ok := w.opts.Types.Lookup(a.job.Type); ok && known.Target != nil {
			a.job.Target = slices.Clone(known.Target)
			return w.opts.Deliver
		}
	}
	return w.handlers[a.job.Type]
}

// noHandler is the end of an attempt whose work nobody here does: it had a claim only because others of its type are
// delivered. It waits, uncounted, for its type's definition or for a process with its handler.
func (w *Worker) noHandler(a *attempt, now time.Time) End {
	return w.decide(a, Ran{Err: fmt.Errorf("type %s has no target and no handler here: %w", a.typ, Snooze(noHandlerWait))}, now)
}

// handles reports whether jobs of the type are run here.
func (w *Worker) handles(typ string) bool {
	if w.handlers[typ] != nil {
		return true
	}
	if !w.delivers() {
		return false
	}
	known, ok := w.opts.Types.Lookup(typ)
	return ok && known.MayDeliver()
}

// current returns the types whose jobs are run here, and a version that rises when they become others.
func (w *Worker) current() (types []string, version int64) {
	if !w.delivers() {
		return w.types, 0
	}
	delivered, version := w.opts.Types.Delivered()
	types = append(slices.Clone(w.types), delivered...)
	slices.Sort(types)
	return slices.Compact(types), version
}

// followTypes announces types that come to be delivered while the worker runs, until ctx ends, and makes it claim them.
func (w *Worker) followTypes(ctx context.Context) {
	announced := w.types
	for try := 0; ctx.Err() == nil; {
		changed := w.opts.Types.Changed()
		types, _ := w.current()
		fresh := slices.DeleteFunc(slices.Clone(types), func(typ string) bool {
			_, before := slices.BinarySearch(announced, typ)
			return before
		})
		if err := w.announceTypes(fresh); err != nil {
			try++
			sleep(ctx, pause(try, 100*time.Millisecond, 5*time.Second, w.opts.Chance()))
			continue
		}
		if announced, try = types, 0; len(fresh) > 0 {
			w.Wake()
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// announceTypes tells the store that jobs of these types are run here.
func (w *Worker) announceTypes(types []string) error {
	if len(types) == 0 {
		return nil
	}
	ctx, cancel := w.call()
	defer cancel()
	if err := w.store.Announce(ctx, types); err != nil {
		return fmt.Errorf("announce: %w", err)
	}
	return nil
}
