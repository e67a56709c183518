package submit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/fleet"
	"github.com/belfry-dev/belfry/core/queuegroup"
	"github.com/belfry-dev/belfry/core/typecache"
)

// SubmitDispatchStore is what dispatch at submit asks of a store.
type SubmitDispatchStore interface {
	core.SubmitStore
	Undispatch(ctx context.Context, refs []core.Ref) error
}

// Dispatcher is a SubmitStore that does not make jobs due at once wait for the tick: where the scheduler
// has credit to give, it has them written as queued and publishes them itself, after the commit. The tick is
// the net: what is not known to be published, or whose publisher died, it publishes again under the same token.
// It never makes a submit fail or a job late. Safe for concurrent use.
type Dispatcher struct {
	store  SubmitDispatchStore
	opts   DispatchOptions
	groups queuegroup.Groups
	rest   atomic.Int64 // no dispatch before this instant, in Unix nanoseconds: the queue was in trouble
}

// DispatchOptions are the settings of a Dispatcher.
type DispatchOptions struct {
	Topics map[core.Priority]core.Topic
	// TakeCredit says how many of n jobs may be dispatched; see Ticker.TakeCredit. It may ask a store, within ctx.
	TakeCredit func(ctx context.Context, queue queuegroup.Key, n int) int
	Lease      time.Duration // dispatch lease of these rows. Zero means 5 s
	Timeout    time.Duration // of publishing, which the submitter waits for. Zero means 2 s
	Rest       time.Duration // without dispatch at submit after a failed Send. Zero means 5 s
	// Fleet knows what workers handle, Types what is deliverable: jobs of other types wait for the tick, but for those that
	// nobody announces where Unannounced says that functions may handle them. Nil means that all is published.
	Fleet       *fleet.View
	Types       *typecache.Cache
	Unannounced bool
	OnDispatch  func(dispatched []core.Job) // sees jobs between their commit and their publishing. Nil means nobody looks
}

// NewDispatcher makes a Dispatcher over store.
func NewDispatcher(store SubmitDispatchStore, opts DispatchOptions) (*Dispatcher, error) {
	if opts.TakeCredit == nil {
		return nil, errors.New("dispatch at submit: a source of credit is required")
	}
	for _, p := range core.Priorities {
		if opts.Topics[p] == nil {
			return nil, errors.New("dispatch at submit: no topic for priority " + p.String())
		}
	}
	opts.Lease = cmp.Or(opts.Lease, 5*time.Second)
	opts.Timeout = cmp.Or(opts.Timeout, 2*time.Second)
	opts.Rest = cmp.Or(opts.Rest, 5*time.Second)
	return &Dispatcher{store: store, opts: opts, groups: queuegroup.GroupsOfTopics(opts.Topics)}, nil
}

// Submit writes jobs, as the store does, and publishes those that were written as queued before it returns.
func (d *Dispatcher) Submit(ctx context.Context, jobs []core.NewJob) ([]core.Submitted, error) {
	asked := d.ask(ctx, jobs, time.Now())
	answers, err := d.store.Submit(ctx, asked)
	if err != nil || len(answers) != len(jobs) {
		return answers, err
	}
	d.publish(ctx, writtenQueued(nil, asked, answers))
	return answers, nil
}

// SubmitOnce is Submit under an idempotency key: what is answered again was published before.
func (d *Dispatcher) SubmitOnce(ctx context.Context, key core.IdempotencyKey, jobs []core.NewJob, render func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	asked := d.ask(ctx, jobs, time.Now())
	once, err := d.store.SubmitOnce(ctx, key, asked, render)
	if err == nil {
		d.publish(ctx, writtenQueued(nil, asked, once.Jobs))
	}
	return once, err
}

// SubmitOnceEach is SubmitOnce for many calls.
func (d *Dispatcher) SubmitOnceEach(ctx context.Context, calls []core.OnceCall) ([]core.OnceAnswer, error) {
	jobs := make([]core.NewJob, len(calls))
	for i := range calls {
		jobs[i] = calls[i].Job
	}
	asked, passed := d.ask(ctx, jobs, time.Now()), slices.Clone(calls)
	for i := range passed {
		passed[i].Job = asked[i]
	}
	answers, err := d.store.SubmitOnceEach(ctx, passed)
	if err != nil || len(answers) != len(calls) {
		return answers, err
	}
	var dispatched []core.Job
	for i, a := range answers {
		if a.Err == nil {
			dispatched = writtenQueued(dispatched, asked[i:i+1], a.Jobs)
		}
	}
	d.publish(ctx, dispatched)
	return answers, nil
}

// writtenQueued appends the jobs that were written as queued, as asked: those to publish. Where there are no answers nothing
// was written.
func writtenQueued(to []core.Job, asked []core.NewJob, answers []core.Submitted) []core.Job {
	for i := range min(len(asked), len(answers)) {
		a, j := &answers[i], &asked[i]
		if a.Existing == nil && a.Status == core.Queued && j.Queued {
			to = append(to, core.Job{
				ID: a.ID, LeaseToken: a.Token, Type: j.Type, Priority: cmp.Or(j.Priority, core.Default), Tenant: j.Tenant,
				Trace: j.Trace, RunAt: a.RunAt, CreatedAt: a.CreatedAt, Status: core.Queued, Bucket: core.BucketOf(a.ID), Dispatches: 1,
			})
		}
	}
	return to
}

// ask marks the jobs that may be written as queued, in a copy.
func (d *Dispatcher) ask(ctx context.Context, jobs []core.NewJob, now time.Time) []core.NewJob {
	if now.UnixNano() < d.rest.Load() {
		return jobs
	}
	// By this process's clock; the store's decides whether a job lies ahead.
	due := func(j core.NewJob) bool { return !j.RunAt.After(now) && (j.Delay == 0 || !j.RunAt.IsZero()) }
	if !slices.ContainsFunc(jobs, due) {
		return jobs
	}
	published := d.published(ctx)
	queue := func(j *core.NewJob) queuegroup.Key { return d.groups.KeyOf(cmp.Or(j.Priority, core.Default), j.Type) }
	credit := map[queuegroup.Key]int{}
	for i := range jobs {
		if due(jobs[i]) && published(&jobs[i]) {
			credit[queue(&jobs[i])]++
		}
	}
	for key, n := range credit {
		credit[key] = d.opts.TakeCredit(ctx, key, n)
	}
	asked := slices.Clone(jobs)
	for i := range asked {
		if key := queue(&asked[i]); credit[key] > 0 && due(asked[i]) && published(&asked[i]) {
			credit[key]--
			asked[i].Queued, asked[i].QueuedLease = true, d.opts.Lease
		}
	}
	return asked
}

// published returns whether jobs are of a type that is published now.
func (d *Dispatcher) published(ctx context.Context) func(*core.NewJob) bool {
	if d.opts.Fleet == nil {
		return func(*core.NewJob) bool { return true }
	}
	return d.opts.Fleet.Publisher(ctx, d.opts.Types, d.opts.Unannounced)
}

// publish sends the messages; those not known to be published are made due for the tick. The caller's ctx does
// not govern it: its jobs are committed and wait for nobody.
func (d *Dispatcher) publish(ctx context.Context, dispatched []core.Job) {
	if len(dispatched) == 0 {
		return
	}
	if d.opts.OnDispatch != nil {
		d.opts.OnDispatch(dispatched)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.opts.Timeout)
	defer cancel()
	var unknown []core.Ref
	for _, p := range core.Priorities {
		var messages []core.Message
		for _, job := range dispatched {
			if job.Priority == p {
				messages = append(messages, core.MessageOf(job))
			}
		}
		if len(messages) == 0 {
			continue
		}
		failed, _ := core.Unpublished(messages, d.opts.Topics[p].Send(ctx, messages))
		unknown = append(unknown, failed...)
	}
	if len(unknown) == 0 {
		return
	}
	d.rest.Store(time.Now().Add(d.opts.Rest).UnixNano())
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), d.opts.Timeout)
	defer cancel()
	_ = d.store.Undispatch(ctx, unknown) // their short dispatch lease ends soon anyway
}
