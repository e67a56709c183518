package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/problem"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// Targets judges where jobs may be delivered: the guard that deliveries are judged by too.
type Targets interface {
	// CheckTargets refuses targets that no delivery may go to; answer i is for target i: nil, or a *core.FieldError of
	// "target" or a field of it.
	CheckTargets(ctx context.Context, targets []json.RawMessage) []error
}

// noTargets is why a target is refused where nothing delivers.
const noTargets = "cannot be used: this server has no webhook secrets (BELFRY_WEBHOOK_SECRETS)"

// target reads a target, as far as core judges it.
func (a *API) target(d *decode.Decoder, field string, raw []byte) json.RawMessage {
	if a.Targets == nil {
		d.Fault(field, noTargets)
		return nil
	}
	if _, headers, ok := show.ParseTarget(raw); ok && slices.Contains(slices.Collect(maps.Values(headers)), show.MaskedValue) {
		d.Fault(field+".headers", "must have real values: "+show.MaskedValue+" is what answers show in their place")
	}
	return raw
}

// checkTargets holds targets against the guard; nil ones pass. faults has one entry per target.
func (a *API) checkTargets(ctx context.Context, targets []json.RawMessage) (faults []error) {
	faults = make([]error, len(targets))
	var some []json.RawMessage
	var at []int
	for i, t := range targets {
		if t != nil {
			some, at = append(some, t), append(at, i)
		}
	}
	if len(some) > 0 {
		for k, err := range a.Targets.CheckTargets(ctx, some) {
			faults[at[k]] = err
		}
	}
	return faults
}

// checkTarget is checkTargets of one.
func (a *API) checkTarget(ctx context.Context, target json.RawMessage) error {
	return a.checkTargets(ctx, []json.RawMessage{target})[0]
}

// judgeTargets returns the jobs of a batch whose target may be delivered to; what is wrong with the others goes into
// faults, which has nil for each of jobs.
func (a *API) judgeTargets(ctx context.Context, jobs []core.CheckedJob, faults []*problem.Problem) []core.CheckedJob {
	targets := make([]json.RawMessage, len(jobs))
	for i := range jobs {
		targets[i] = jobs[i].NewJob().Target
	}
	refused, kept, next := a.checkTargets(ctx, targets), jobs[:0], 0
	for i, known := range faults {
		if known != nil {
			continue
		}
		if err := refused[next]; err != nil {
			faults[i] = problemOf(within(fmt.Sprintf("jobs[%d].", i), err))
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
