package submit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/typecache"
)

// wakeWithin is how soon a job must be due for its submit to wake the workers of this process; later ones are
// found by the workers' own timer.
const wakeWithin = time.Second

// ErrClosed is the answer of a Submitter that was closed.
var ErrClosed = errors.New("closed")

// Options configure a Submitter.
type Options struct {
	MaxGroup int              // jobs written by one commit. Zero means 1,000
	InFlight int              // group commits at a time. Zero means 2
	Timeout  time.Duration    // of one group commit. Zero means 30 s
	Now      func() time.Time // judges run_at and expires_at: a Clock's. Nil means time.Now
	Wake     func()           // called after a commit with a job that is due within a second. Nil means nobody is woken
	Types    *typecache.Cache // give jobs what their types define. Nil means that types define nothing
}

// Submitter writes jobs for many callers at once: what arrives while a commit is under way shares the next
// one. A caller that finds none under way commits at once, so grouping never adds a wait. Safe for concurrent use.
type Submitter struct {
	store core.SubmitStore
	opts  Options
	plain *commits[core.NewJob, core.Submitted]
	once  *commits[core.OnceCall, core.Once] // under idempotency keys
}

// New returns a Submitter on store.
func New(store core.SubmitStore, opts Options) *Submitter {
	if opts.MaxGroup <= 0 {
		opts.MaxGroup = 1_000
	}
	if opts.InFlight <= 0 {
		opts.InFlight = 2
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 30 * time.Second
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Submitter{store: store, opts: opts}
	s.plain = newCommits(opts, s.write)
	s.once = newCommits(opts, s.writeOnce)
	return s
}

// Submit is Check and Write.
func (s *Submitter) Submit(ctx context.Context, job core.NewJob) (core.Submitted, error) {
	checked, err := s.Check(ctx, job, s.opts.Now())
	if err != nil {
		return core.Submitted{}, err
	}
	return s.Write(ctx, checked)
}

// SubmitBatch is Check of each and WriteBatch.
func (s *Submitter) SubmitBatch(ctx context.Context, jobs []core.NewJob) ([]core.Submitted, error) {
	ready := make([]core.NewJob, len(jobs))
	now := s.opts.Now()
	for i := range jobs {
		checked, err := s.Check(ctx, jobs[i], now)
		if err != nil {
			return nil, fmt.Errorf("jobs[%d]: %w", i, err)
		}
		ready[i] = checked.NewJob()
	}
	return s.writeBatch(ctx, ready)
}

// Check gives a job what its type defines and holds it against the rules; see core.CheckNewJob. Any other error than
// FieldErrors says that nothing is known of types yet.
func (s *Submitter) Check(ctx context.Context, job core.NewJob, now time.Time) (core.CheckedJob, error) {
	var known core.JobType
	var unknown error
	if s.opts.Types != nil {
		if unknown = s.opts.Types.Fresh(ctx); unknown == nil {
			known, _ = s.opts.Types.Lookup(job.Type)
		}
	}
	checked, err := core.CheckNewJob(job, known, now)
	if err == nil && unknown != nil {
		err = fmt.Errorf("submit: %w", unknown)
	}
	return checked, err
}

// Write writes a job and returns when that is durable. A job with a dedupe key is written alone, because it may have to wait
// for another transaction. When ctx ends first the caller stops waiting, and whether the job was written is unknown, as
// after any lost answer.
func (s *Submitter) Write(ctx context.Context, checked core.CheckedJob) (core.Submitted, error) {
	job := checked.NewJob()
	if err := s.markOne(ctx, &job); err != nil {
		return core.Submitted{}, err
	}
	if job.DedupeKey != "" {
		answers, err := s.writeJobs(ctx, []core.NewJob{job})
		if err != nil {
			return core.Submitted{}, err
		}
		return answers[0], nil
	}
	return s.plain.submit(ctx, job)
}

// WriteBatch writes jobs, all in one transaction of their own, or none; answer i is for job i.
func (s *Submitter) WriteBatch(ctx context.Context, checked []core.CheckedJob) ([]core.Submitted, error) {
	return s.writeBatch(ctx, newJobs(checked))
}

func (s *Submitter) writeBatch(ctx context.Context, jobs []core.NewJob) ([]core.Submitted, error) {
	if err := s.mark(ctx, jobs); err != nil || len(jobs) == 0 {
		return nil, err
	}
	return s.writeJobs(ctx, jobs)
}

// newJobs returns checked jobs for the store.
func newJobs(checked []core.CheckedJob) []core.NewJob {
	jobs := make([]core.NewJob, len(checked))
	for i := range checked {
		jobs[i] = checked[i].NewJob()
	}
	return jobs
}

// WriteOnce is WriteBatch under an idempotency key; see core.SubmitStore.
func (s *Submitter) WriteOnce(ctx context.Context, key core.IdempotencyKey, checked []core.CheckedJob, render func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	jobs := newJobs(checked)
	if err := s.mark(ctx, jobs); err != nil {
		return core.Once{}, err
	}
	return s.writeAlone(ctx, key, jobs, render)
}

// WriteOneOnce is WriteOnce for one job. Without a dedupe key the job shares commits, as those of Write do. render makes the
// answer of the job and its outcome; for a repeated call, of those of the first one.
func (s *Submitter) WriteOneOnce(ctx context.Context, key core.IdempotencyKey, checked core.CheckedJob, render func(*core.NewJob, core.Submitted) core.Answer) (core.Once, error) {
	call := core.OnceCall{Key: key, Job: checked.NewJob()}
	job := &call.Job
	if err := s.markOne(ctx, job); err != nil {
		return core.Once{}, err
	}
	var once core.Once
	var err error
	if job.DedupeKey != "" {
		once, err = s.writeAlone(ctx, key, []core.NewJob{*job}, func(answers []core.Submitted) (core.Answer, error) { return render(job, answers[0]), nil })
	} else {
		once, err = s.once.submit(ctx, call)
	}
	return rendered(once, job, render), err
}

// rendered makes the answer of job, or of what was kept of it, unless an answer was kept.
func rendered(o core.Once, job *core.NewJob, render func(*core.NewJob, core.Submitted) core.Answer) core.Once {
	switch {
	case o.Kept != nil:
		o.Kept.Repeat(job.Payload)
		o.Answer = render(&o.Kept.Job, o.Kept.Submitted)
	case len(o.Jobs) == 1:
		o.Answer = render(job, o.Jobs[0])
	}
	return o
}

// mark notes the types of the jobs of one caller that bring targets of their own, before the jobs are written.
func (s *Submitter) mark(ctx context.Context, jobs []core.NewJob) error {
	if s.opts.Types == nil {
		return nil
	}
	var targeted []string
	for i := range jobs {
		if jobs[i].Target != nil {
			targeted = append(targeted, jobs[i].Type)
		}
	}
	slices.Sort(targeted)
	return s.markTypes(ctx, slices.Compact(targeted))
}

// markOne is mark for one job.
func (s *Submitter) markOne(ctx context.Context, job *core.NewJob) error {
	if s.opts.Types == nil || job.Target == nil {
		return nil
	}
	return s.markTypes(ctx, []string{job.Type})
}

func (s *Submitter) markTypes(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	if err := s.opts.Types.MarkDelivered(ctx, names); err != nil {
		return fmt.Errorf("submit: %w", err)
	}
	return nil
}

// Close refuses further jobs and waits until those that were accepted are written.
func (s *Submitter) Close(ctx context.Context) error {
	return errors.Join(s.plain.close(ctx), s.once.close(ctx))
}

// write is writeJobs for a group.
func (s *Submitter) write(ctx context.Context, jobs []core.NewJob) ([]core.Submitted, []error, error) {
	answers, err := s.writeJobs(ctx, jobs)
	return answers, nil, err
}

// writeJobs calls the store and wakes the workers for what is due.
func (s *Submitter) writeJobs(ctx context.Context, jobs []core.NewJob) ([]core.Submitted, error) {
	answers, err := s.store.Submit(ctx, jobs)
	if err != nil {
		return nil, fmt.Errorf("submit: %w", err)
	}
	if len(answers) != len(jobs) {
		return nil, fmt.Errorf("submit: %d answers for %d jobs", len(answers), len(jobs))
	}
	if s.opts.Wake != nil && dueSoon(answers) {
		s.opts.Wake()
	}
	return answers, nil
}

// writeAlone is writeJobs under an idempotency key.
func (s *Submitter) writeAlone(ctx context.Context, key core.IdempotencyKey, jobs []core.NewJob, render func([]core.Submitted) (core.Answer, error)) (core.Once, error) {
	once, err := s.store.SubmitOnce(ctx, key, jobs, render)
	if err != nil {
		return core.Once{}, fmt.Errorf("submit: %w", err)
	}
	if s.opts.Wake != nil && dueSoon(once.Jobs) {
		s.opts.Wake()
	}
	return once, nil
}

// writeOnce is write under idempotency keys.
func (s *Submitter) writeOnce(ctx context.Context, calls []core.OnceCall) ([]core.Once, []error, error) {
	answers, err := s.store.SubmitOnceEach(ctx, calls)
	if err != nil {
		return nil, nil, fmt.Errorf("submit: %w", err)
	}
	once, errs, soon := make([]core.Once, len(answers)), make([]error, len(answers)), false
	for i, a := range answers {
		if once[i] = a.Once; a.Err != nil {
			errs[i] = fmt.Errorf("submit: %w", a.Err)
		}
		soon = soon || dueSoon(a.Jobs)
	}
	if s.opts.Wake != nil && soon {
		s.opts.Wake()
	}
	return once, errs, nil
}

// dueSoon reports whether one of the jobs just written is scheduled to run within wakeWithin.
func dueSoon(answers []core.Submitted) bool {
	for i := range answers {
		a := &answers[i]
		if a.Existing == nil && a.Status == core.Scheduled && a.RunAt.Sub(a.CreatedAt) <= wakeWithin {
			return true
		}
	}
	return false
}
