package work

import (
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// noHandlerWait is how long a queued job waits that has no target and whose type no live worker has a handler for.
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

// onlyTargeted reports whether of the type's jobs only those are run here that bring a target of their own. The others of
// that type are left to workers with a handler for it.
func (w *Worker) onlyTargeted(typ string) bool {
	if w.handlers[typ] != nil || !w.delivers() {
		return false
	}
	known, ok := w.opts.Types.Lookup(typ)
	return ok && known.Delivered && known.Target == nil
}

// noHandler is the end of an attempt whose work nobody here does. It is handed back, without an attempt or a snooze: at once
// if it was claimed, for the next claim passes it over; after a while if it came from a queue, since that happens only where
// no live worker has a handler for its type.
func (w *Worker) noHandler(a *attempt) core.End {
	end := core.End{Ref: a.ref, Outcome: core.EndHandBack}
	if a.delivery != nil {
		end.Wait = noHandlerWait
	}
	return end
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
