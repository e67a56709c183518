package tick

import (
	"context"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// duty is one task of a pass.
type duty struct {
	what  string
	every func(o *Options) time.Duration // minimum time between two executions. Nil means every pass
	kept  bool                           // a host stores its next time, which follows this process's clock, jittered so that installations differ
	first bool                           // only for the holder of bucket 0, so that one ticker does it
	when  string                         // the condition in words. Empty means always
	due   func(t *Ticker, p *pass) bool  // the condition. Nil means always
	now   func(t *Ticker, p *pass) bool  // reports whether to do it at once, before its next time. Nil means never
	do    func(*Ticker, context.Context, *pass) error
	why   string
}

// duties lists everything a pass does, in this order; docs/architecture.md shows it. An error of the first duty ends the
// pass. After an error of another one the remaining duties are still done.
var duties = [...]duty{
	{
		what: "call the store's `Tick`", do: (*Ticker).tickStore,
		why: "renews the bucket leases, cancels expired jobs, lists lost attempts and due schedules; in queue mode it marks due jobs as queued",
	}, {
		what: "publish", when: "there are queues", due: func(t *Ticker, _ *pass) bool { return t.dispatcher != nil },
		do: func(t *Ticker, _ context.Context, p *pass) error {
			p.report.NextIn = t.dispatcher.dispatch(p.req, p.res)
			return nil
		},
		why: "sends a message for each job that was marked",
	}, {
		what: "wake workers", when: "workers are in this process", due: func(t *Ticker, _ *pass) bool { return t.opts.Wake != nil },
		do:  func(t *Ticker, _ context.Context, p *pass) error { t.wake(p.res.Waiting); return nil },
		why: "jobs that are due before the next pass start on time",
	}, {
		what: upkeep, every: func(o *Options) time.Duration { return o.MaintainPeriod }, kept: true, first: true,
		when: "the last one is over", due: func(t *Ticker, _ *pass) bool { return !t.maintaining.Load() }, do: (*Ticker).maintain,
		why: "makes partitions ahead, drops what is past its retention, merges counts; beside the passes, because it may take longer than a lease",
	}, {
		what: "end lost attempts", do: (*Ticker).reap,
		why: "jobs whose worker is gone are retried, or fail",
	}, {
		what: "advance schedules", when: "buckets are held", due: func(_ *Ticker, p *pass) bool { return len(p.res.Held) > 0 }, do: (*Ticker).advance,
		why: "makes the jobs of due runs and records them; first computes again what another time zone database computed",
	}, {
		what: "watch types", every: func(o *Options) time.Duration { return o.TypesPeriod }, first: true,
		when: "a success is expected of a type",
		due: func(t *Ticker, _ *pass) bool {
			return t.opts.Schedules.Types != nil && t.opts.Schedules.Types.Expecting()
		}, do: (*Ticker).watchTypes,
		why: "raises and clears alerts about types without a success",
	}, {
		what: "watch failures", every: func(*Options) time.Duration { return failuresPeriod }, first: true,
		when: "alerts about failures are open, or a job failed for good: then at once", due: func(_ *Ticker, p *pass) bool { return p.res.Failed || p.res.Failing },
		now: func(_ *Ticker, p *pass) bool { return p.res.Failed }, do: (*Ticker).watchFailures,
		why: "raises and clears alerts about jobs that failed for good",
	}, {
		what: "name unserved lanes", every: func(*Options) time.Duration { return core.ApartFirst }, first: true,
		when: "jobs have a priority that does not exist", due: func(_ *Ticker, p *pass) bool { return len(p.res.Unserved) > 0 }, do: (*Ticker).reportUnserved,
		why: "nobody claims such jobs, and no error is raised",
	}, {
		what: "name damaged rows", every: func(*Options) time.Duration { return core.ApartFirst }, first: true, do: (*Ticker).nameDamaged,
		why: "nothing is ever done with them, and no error is raised",
	}, {
		what: "report rows set apart", first: true,
		when: "a row was set apart since", due: func(_ *Ticker, p *pass) bool { return p.res.Untold }, do: (*Ticker).reportApart,
		why: "an operator learns of damaged rows",
	}, {
		what: "publish alerts", when: "alerts wait for it, and the last publishing is over",
		due: func(t *Ticker, p *pass) bool {
			return t.opts.OnAlerts != nil && p.res.Unsent && len(p.res.Held) > 0 && !t.alerting.Load()
		}, do: (*Ticker).alert,
		why: "webhooks learn of alerts; beside the passes",
	}, {
		what: "write counts", do: func(t *Ticker, ctx context.Context, _ *pass) error { t.rollups.Flush(ctx, t.store); return nil },
		why: "statistics include lost attempts",
	},
}

// upkeep names the duty whose next time hosts store; see MaintainNext.
const upkeep = "maintain the tables"

// isDue reports whether a duty must be done in this pass.
func (t *Ticker) isDue(d *duty, p *pass) bool {
	if d.first && !holds(p.res.Held, 0) || d.due != nil && !d.due(t, p) {
		return false
	}
	return d.every == nil || d.now != nil && d.now(t, p) || !t.clock(d, p).Before(t.next[d.what])
}

// done sets the next time of a duty.
func (t *Ticker) done(d *duty, p *pass) {
	if d.every == nil {
		return
	}
	period := d.every(&t.opts)
	if d.kept {
		period = period*3/4 + time.Duration(t.opts.Chance()*float64(period)/2)
	}
	t.next[d.what] = t.clock(d, p).Add(period)
}

// clock returns the time that a duty follows: the store's, or this process's if a host stores its next time.
func (t *Ticker) clock(d *duty, p *pass) time.Time {
	if d.kept {
		return time.Now()
	}
	return p.res.Now
}

// holds reports whether bucket is among those held.
func holds(held []core.Held, bucket int) bool {
	return slices.ContainsFunc(held, func(h core.Held) bool { return h.Bucket == bucket })
}
