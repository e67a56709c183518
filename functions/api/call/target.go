package call

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/belfry-dev/belfry/functions/api/decode"
	"github.com/belfry-dev/belfry/functions/api/show"
)

// noTargets is why a target is refused where nothing delivers.
const noTargets = "cannot be used: this server has no webhook secrets (BELFRY_WEBHOOK_SECRETS)"

// Target reads a target, as far as core judges it.
func (a *Base) Target(d *decode.Decoder, field string, raw []byte) json.RawMessage {
	if a.Targets == nil {
		d.Fault(field, noTargets)
		return nil
	}
	if _, headers, ok := show.ParseTarget(raw); ok && slices.Contains(slices.Collect(maps.Values(headers)), show.MaskedValue) {
		d.Fault(field+".headers", "must have real values: "+show.MaskedValue+" is what answers show in their place")
	}
	return raw
}

// CheckTargets holds targets against the guard; nil ones pass. faults has one entry per target.
func (a *Base) CheckTargets(ctx context.Context, targets []json.RawMessage) (faults []error) {
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

// CheckTarget is CheckTargets of one.
func (a *Base) CheckTarget(ctx context.Context, target json.RawMessage) error {
	return a.CheckTargets(ctx, []json.RawMessage{target})[0]
}
