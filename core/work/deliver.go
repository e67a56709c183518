package work

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// noHandlerWait is how long a queued job without a target waits if no live worker has a handler for its type.
const noHandlerWait = 30 * time.Second

// delivers reports whether the worker also delivers jobs to targets.
func (w *Worker) delivers() bool { return w.opts.Deliver != nil && w.opts.Types != nil }

// work finds the handler of a job: the one that delivers it, if the job or its type has a target, else the handler of its
// type. Nil: this worker has none.
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

// onlyTargeted reports whether this worker runs only those jobs of the type that have a target of their own. It leaves the
// others to workers with a handler for the type.
func (w *Worker) onlyTargeted(typ string) bool {
	if w.handlers[typ] != nil || !w.delivers() {
		return false
	}
	known, ok := w.opts.Types.Lookup(typ)
	return ok && known.Delivered && known.Target == nil
}

// noHandler is the end of an attempt for which this worker has no handler. The job is handed back, without an attempt or a
// snooze: at once if it was claimed, because the next claim skips it; after a while if it came from a queue, because then no
// live worker has a handler for its type.
func (w *Worker) noHandler(a *attempt) core.End {
	end := core.End{Ref: a.ref, Outcome: core.EndHandBack}
	if a.delivery != nil {
		end.Wait = noHandlerWait
	}
	return end
}

// handles reports whether this worker runs jobs of the type.
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

// current returns the types that this worker runs, and a version that rises when they change.
func (w *Worker) current() (types []string, version int64) {
	if !w.delivers() {
		return w.types, 0
	}
	delivered, version := w.opts.Types.Delivered()
	types = append(slices.Clone(w.types), delivered...)
	slices.Sort(types)
	return slices.Compact(types), version
}

// deliverable reports whether jobs of the type may be delivered to a target, as far as this worker knows. A worker that
// knows no types leaves that to others.
func (w *Worker) deliverable(typ string) bool {
	if w.opts.Types == nil {
		return true
	}
	known, ok := w.opts.Types.Lookup(typ)
	return ok && known.MayDeliver()
}
