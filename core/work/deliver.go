package work

import (
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/decide"
)

// noHandlerWait is when a job is looked at again that has no target and whose type no handler here runs.
const noHandlerWait = 30 * time.Second

// delivers reports whether the worker delivers jobs to targets, beside what its handlers do.
func (w *Worker) delivers() bool { return w.opts.Deliver != nil && w.opts.Types != nil }

// work finds who does a job's work: whoever delivers it, where it has a target of its own or its type has one, else the
// handler of its type. Nil: nobody here.
func (w *Worker) work(a *attempt) core.Handler {
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
func (w *Worker) noHandler(a *attempt, now time.Time) core.End {
	return w.decide(a, decide.Ran{Err: fmt.Errorf("type %s has no target and no handler here: %w", a.typ, core.Snooze(noHandlerWait))}, now)
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

// deliverable reports whether jobs of the type may be delivered to a target, as far as is known here: whoever knows no
// types leaves that to those who do.
func (w *Worker) deliverable(typ string) bool {
	if w.opts.Types == nil {
		return true
	}
	known, ok := w.opts.Types.Lookup(typ)
	return ok && known.MayDeliver()
}
