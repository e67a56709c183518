package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/decide"
	"github.com/belfry-dev/belfry/core/rollup"
)

// ReportStore holds the store methods that a Reporter needs.
type ReportStore interface {
	rollup.Store
	Get(ctx context.Context, id int64) (core.Job, error)
	Heartbeat(ctx context.Context, beats []core.Ref, lease time.Duration) ([]core.Beat, error)
	Finish(ctx context.Context, ends []core.End) ([]core.EndAnswer, error)
	Now(ctx context.Context) (time.Time, error)
}

// ReporterOptions configure a Reporter.
type ReporterOptions struct {
	ID      string         // name of the process; it selects the shard of its counts
	Timeout time.Duration  // how long a heartbeat extends a job without a timeout. Zero means 15 min
	Chance  func() float64 // in [0, 1), for jitter. Nil means math/rand
}

// Reporter ends and extends attempts for targets that accepted a job and hold its lease token. It decides and counts as a
// Worker does. Each call is fenced by the token, may be repeated if its answer was lost, and is safe for concurrent use.
type Reporter struct {
	store  ReportStore
	opts   ReporterOptions
	counts *reportCounts
}

// NewReporter returns a Reporter on store. Close it after the last call.
func NewReporter(store ReportStore, opts ReporterOptions) *Reporter {
	if opts.Timeout <= 0 {
		opts.Timeout = 15 * time.Minute
	}
	if opts.Chance == nil {
		opts.Chance = rand.Float64
	}
	return &Reporter{store: store, opts: opts, counts: newReportCounts(store, opts.ID)}
}

// Extended is the result of a heartbeat.
type Extended struct {
	LeaseUntil   time.Time // the attempt is lost after this time (store's clock)
	CancelWanted bool      // stop, and report the end
}

// Heartbeat extends the attempt's lease by its job's timeout. It returns ErrStale if the attempt has ended or another has
// begun, and ErrBusy if another transaction holds the row's lock; try again then.
func (r *Reporter) Heartbeat(ctx context.Context, ref core.Ref) (Extended, error) {
	job, err := r.job(ctx, ref)
	if err != nil {
		return Extended{}, err
	}
	lease := job.Timeout
	if lease <= 0 {
		lease = r.opts.Timeout
	}
	now, err := r.store.Now(ctx)
	if err != nil {
		return Extended{}, fmt.Errorf("heartbeat: %w", err)
	}
	beats, err := r.store.Heartbeat(ctx, []core.Ref{ref}, lease)
	switch {
	case err != nil:
		return Extended{}, fmt.Errorf("heartbeat: %w", err)
	case len(beats) != 1 || beats[0].Stale:
		return Extended{}, core.ErrStale
	case beats[0].Busy:
		return Extended{}, core.ErrBusy
	}
	return Extended{LeaseUntil: now.Add(lease), CancelWanted: beats[0].CancelWanted}, nil
}

// Complete ends the attempt successfully: the job is done, even if cancel was wanted. If the result cannot be kept, it
// returns FieldErrors or a *FieldError for "result" and changes nothing. A repeated call returns the first answer. It
// returns ErrStale if the attempt ended in another way.
func (r *Reporter) Complete(ctx context.Context, ref core.Ref, result json.RawMessage) (core.Status, error) {
	if err := core.CheckResult(result); err != nil {
		var known core.FieldErrors
		if errors.As(err, &known) {
			return 0, known
		}
		return 0, &core.FieldError{Field: "result", Rule: err.Error()}
	}
	job, err := r.job(ctx, ref)
	if err != nil {
		return 0, err
	}
	status, err := r.end(ctx, &job, core.End{Ref: ref, Outcome: core.EndDone, Result: result})
	if err == nil && status != core.Done {
		err = core.ErrStale
	}
	return status, err
}

// Fail ends the attempt with an error, which may be marked with Permanent or RetryAfter: the job is scheduled again, failed,
// or cancelled if that was wanted. A repeated call returns the first answer. It returns ErrStale if the attempt ended
// successfully.
func (r *Reporter) Fail(ctx context.Context, ref core.Ref, fault error) (core.Status, error) {
	job, err := r.job(ctx, ref)
	if err != nil {
		return 0, err
	}
	now, err := r.store.Now(ctx)
	if err != nil {
		return 0, fmt.Errorf("fail: %w", err)
	}
	end := decide.End(&job, decide.Ran{Err: fault}, now, r.opts.Chance())
	end.Ref = ref // the store detects whether the job has moved on
	status, err := r.end(ctx, &job, end)
	if err == nil && status == core.Done {
		err = core.ErrStale
	}
	return status, err
}

// job reads the attempt's job. It returns ErrStale if the job was deleted.
func (r *Reporter) job(ctx context.Context, ref core.Ref) (core.Job, error) {
	job, err := r.store.Get(ctx, ref.ID)
	if errors.Is(err, core.ErrNotFound) {
		return core.Job{}, core.ErrStale
	}
	if err == nil && job.Unreadable != "" {
		return core.Job{}, fmt.Errorf("read job %d: %w: %s", ref.ID, core.ErrRow, job.Unreadable) // an end would overwrite its errors
	}
	return job, err
}

// end records the end of one attempt.
func (r *Reporter) end(ctx context.Context, job *core.Job, end core.End) (core.Status, error) {
	answers, err := r.store.Finish(ctx, []core.End{end})
	switch {
	case err != nil:
		return 0, fmt.Errorf("finish: %w", err)
	case len(answers) != 1 || answers[0].Stale:
		return 0, core.ErrStale
	case answers[0].Busy:
		return 0, core.ErrBusy
	case answers[0].Repeat && !answers[0].Status.Ended():
		return core.Scheduled, nil // the first answer, even if the next attempt has begun
	case !answers[0].Repeat:
		r.counts.add(ctx, job, end.Outcome, answers[0].Status)
	}
	return answers[0].Status, nil
}

// Close writes the remaining counts.
func (r *Reporter) Close(ctx context.Context) { r.counts.close(ctx) }
