package core

import (
	"encoding/json"
	"time"
)

// covered is the form in which stores keep what a run made up late stands for.
type covered struct {
	CatchUp bool      `json:"catch_up,omitempty"`
	Count   int64     `json:"count,omitempty"`
	From    time.Time `json:"from,omitzero"`
}

// EncodeCovers is what a store keeps of a run beside its schedule and instant: nil of a punctual one.
func EncodeCovers(r *Run) ([]byte, error) {
	if r == nil || !r.CatchUp && r.Covers <= 1 {
		return nil, nil
	}
	return json.Marshal(covered{CatchUp: r.CatchUp, Count: r.Covers, From: r.CoversFrom})
}

// DecodeCovers is the run of a schedule's instant; what was damaged reads as punctual.
func DecodeCovers(schedule string, scheduledFor time.Time, text []byte) *Run {
	r := &Run{Schedule: schedule, ScheduledFor: scheduledFor}
	var c covered
	if len(text) > 0 && json.Unmarshal(text, &c) == nil {
		r.CatchUp, r.Covers, r.CoversFrom = c.CatchUp, c.Count, c.From
	}
	return r
}
