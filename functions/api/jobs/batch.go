package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/answer"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/memory"
	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// submitBatch answers POST /v1/jobs/batch: item i of the answer is for job i, a job or what is wrong with it.
// The jobs that are right are written in one transaction.
func (a *Calls) submitBatch(w http.ResponseWriter, r *http.Request) error {
	raw, key, err := a.readSubmit(w, r, a.Limits.BatchBody)
	if err != nil {
		return err
	}
	jobs, faults, err := a.decodeBatch(r, raw)
	if err != nil {
		return err
	}
	if err := a.holdBatch(w, r, len(raw), jobs, faults); err != nil {
		return err
	}
	jobs = a.judgeTargets(r.Context(), jobs, faults)
	render := func(answers []core.Submitted) core.Answer {
		return core.Answer{Status: http.StatusOK, Body: batchAnswer(jobs, answers, faults)}
	}
	if key != nil {
		once, err := a.Submitter.WriteOnce(r.Context(), *key, jobs, func(answers []core.Submitted) (core.Answer, error) {
			if len(jobs) == 0 {
				return core.Answer{}, errNothingWritten
			}
			return render(answers), nil
		})
		if !errors.Is(err, errNothingWritten) {
			return a.answerOnce(w, r, once, err)
		}
	}
	var answers []core.Submitted
	if len(jobs) > 0 {
		if answers, err = a.Submitter.WriteBatch(r.Context(), jobs); err != nil {
			return err
		}
	}
	a.pokeNew(answers)
	writeAnswer(w, r, render(answers))
	return nil
}

// What each job of a batch takes beside its part of the body, and one with a dedupe key beside that: it may be answered by a
// job that is there already.
const (
	itemHold  = 2 << 10
	keyedHold = 2 * core.MaxBriefBytes
)

// holdBatch has the request hold what its jobs take from here on.
func (a *Calls) holdBatch(w http.ResponseWriter, r *http.Request, body int, jobs []core.CheckedJob, faults []*problem.Problem) error {
	n := memory.BodyTimes*body + itemHold*len(faults)
	for i := range jobs {
		if jobs[i].NewJob().DedupeKey != "" {
			n += keyedHold
		}
	}
	return answer.HoldOf(w).Set(r.Context(), min(int64(n), a.Memory.Share))
}

// maxItemFaults bounds the faults that the answer to one batch tells of in full.
const maxItemFaults = 1000

// decodeBatch reads the jobs. faults has one entry per item: nil for those that are in jobs.
func (a *Calls) decodeBatch(r *http.Request, raw []byte) (jobs []core.CheckedJob, faults []*problem.Problem, err error) {
	var d decode.Decoder
	trace, told := traceOf(r), 0
	d.Object(raw, []string{"jobs"}, func(name string, value []byte) {
		d.Array(name, value, a.Limits.Batch, func(field string, value []byte) {
			if err != nil {
				return
			}
			job, fault := a.decodeJob(r.Context(), field+".", value, trace)
			if fault == nil {
				if jobs == nil {
					jobs = make([]core.CheckedJob, 0, min(a.Limits.Batch, len(raw)/len(value)))
				}
				jobs, faults = append(jobs, job), append(faults, nil)
				return
			}
			var p *problem.Problem
			if !errors.As(fault, &p) {
				err = fault
				return
			}
			if told += len(p.Errors); told > maxItemFaults && len(p.Errors) > 1 {
				p.Errors = p.Errors[:1:1] // the detail says how many more there are
			}
			faults = append(faults, p)
		})
	})
	if !d.Has("jobs") {
		d.Fault("jobs", "is required")
	} else if err == nil && len(d.Errs) == 0 && len(faults) == 0 {
		d.Fault("jobs", fmt.Sprintf("must have 1 to %d elements", a.Limits.Batch))
	}
	if p := d.Problem(); p != nil {
		return nil, nil, p
	}
	return jobs, faults, err
}

// appendBrief appends a duplicate in at most a few KiB: a batch of short keys may name jobs that are large, or one
// such job ten thousand times.
func appendBrief(b []byte, j *core.Job) []byte {
	if n := len(j.Payload); n > 0 && n <= core.MaxBriefBytes {
		if whole := show.AppendJob(b, j, true); len(whole)-len(b) <= core.MaxBriefBytes {
			return whole
		}
	}
	brief := *j
	brief.Payload, brief.Errors, brief.Target = []byte("null"), nil, nil
	b = show.AppendJob(b, &brief, true)
	return append(b[:len(b)-1], `,"abridged":true}`...)
}

// batchAnswer is {"items": [...]}.
func batchAnswer(jobs []core.CheckedJob, answers []core.Submitted, faults []*problem.Problem) []byte {
	size := 0
	for i := range jobs {
		n := jobs[i].NewJob()
		size += len(n.Payload) + len(n.Target)
	}
	b, next := make([]byte, 0, size+len(faults)*jobBytes), 0
	b = append(b, `{"items":[`...)
	for i, p := range faults {
		b = show.Comma(b, i)
		if p != nil {
			b = append(append(append(b, `{"error":`...), p.Encode()...), '}')
			continue
		}
		answer := answers[next]
		if answer.Existing != nil {
			b = appendBrief(b, answer.Existing)
		} else {
			n := jobs[next].NewJob()
			job := jobOf(&n, answer)
			b = show.AppendJob(b, &job, false)
		}
		next++
	}
	return append(b, "]}"...)
}

// judgeTargets returns the jobs of a batch whose target may be delivered to; what is wrong with the others goes into
// faults, which has nil for each of jobs.
func (a *Calls) judgeTargets(ctx context.Context, jobs []core.CheckedJob, faults []*problem.Problem) []core.CheckedJob {
	targets := make([]json.RawMessage, len(jobs))
	for i := range jobs {
		targets[i] = jobs[i].NewJob().Target
	}
	refused, kept, next := a.CheckTargets(ctx, targets), jobs[:0], 0
	for i, known := range faults {
		if known != nil {
			continue
		}
		if err := refused[next]; err != nil {
			faults[i] = answer.ProblemOf(within(fmt.Sprintf("jobs[%d].", i), err))
		} else {
			kept = append(kept, jobs[next])
		}
		next++
	}
	return kept
}

// within puts a path before the field that an error names.
func within(path string, err error) error {
	var field *core.FieldError
	if errors.As(err, &field) {
		return &core.FieldError{Field: path + field.Field, Rule: field.Rule}
	}
	return err
}
