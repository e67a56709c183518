package handler

import (
	"context"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// Trace is where in a distributed trace a job was submitted, by W3C Trace Context: what its handler does
// belongs under that span.
type Trace struct {
	TraceID string // 32 hex digits
	SpanID  string // 16 hex digits: of the span that submitted the job
	Flags   string // 2 hex digits
}

// Sampled reports whether the submitter may have recorded its part of the trace.
func (t Trace) Sampled() bool {
	return t.Flags != "" && strings.Contains("13579bdf", t.Flags[len(t.Flags)-1:])
}

// String is the traceparent header of t.
func (t Trace) String() string { return "00-" + t.TraceID + "-" + t.SpanID + "-" + t.Flags }

// ParseTrace reads a traceparent header of version 00. An id of zeros only means that there is no trace.
func ParseTrace(traceparent string) (Trace, bool) {
	if !core.ValidTrace(traceparent) {
		return Trace{}, false
	}
	parts := strings.Split(traceparent, "-")
	t := Trace{TraceID: parts[1], SpanID: parts[2], Flags: parts[3]}
	if strings.Trim(t.TraceID, "0") == "" || strings.Trim(t.SpanID, "0") == "" {
		return Trace{}, false
	}
	return t, true
}

// TraceOf returns the trace that the job of this context was submitted under. Its String is what propagators of
// tracing libraries take; ok is false where the job has none, and outside a handler.
func TraceOf(ctx context.Context) (trace Trace, ok bool) {
	a := attemptOf(ctx)
	if a == nil {
		return Trace{}, false
	}
	return ParseTrace(a.job.Trace)
}
