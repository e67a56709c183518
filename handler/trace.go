package handler

import (
	"context"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// Trace is the position in a distributed trace where a job was submitted, by W3C Trace Context. The handler's spans belong
// under its span.
type Trace struct {
	TraceID string // 32 hex digits
	SpanID  string // 16 hex digits: the span that submitted the job
	Flags   string // 2 hex digits
}

// Sampled reports whether the submitter may have recorded its part of the trace.
func (t Trace) Sampled() bool {
	return t.Flags != "" && strings.Contains("13579bdf", t.Flags[len(t.Flags)-1:])
}

// String is the traceparent header of t.
func (t Trace) String() string { return "00-" + t.TraceID + "-" + t.SpanID + "-" + t.Flags }

// ParseTrace reads a traceparent header of version 00. An id of only zeros means no trace.
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

// TraceOf returns the trace under which the job of this context was submitted. Its String is a header for the propagators of
// tracing libraries. ok is false if the job has none, and outside a handler.
func TraceOf(ctx context.Context) (trace Trace, ok bool) {
	a := attemptOf(ctx)
	if a == nil {
		return Trace{}, false
	}
	return ParseTrace(a.job.Trace)
}
