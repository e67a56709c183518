package handler

import (
	"context"
	"strings"

	"github.com/belfry-dev/belfry/core"
)

// Trace identifies the span that submitted a job, by W3C Trace Context. The handler's spans are children of this span.
type Trace struct {
	TraceID string // 32 hex digits
	SpanID  string // 16 hex digits: the span that submitted the job
	Flags   string // 2 hex digits
}

// Sampled reports whether the submitter may have recorded its part of the trace.
func (t Trace) Sampled() bool {
	return t.Flags != "" && strings.Contains("13579bdf", t.Flags[len(t.Flags)-1:])
}

// String returns t as a traceparent header.
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

// TraceOf returns the trace of the job in this context. Its String is a header for the propagators of tracing libraries. ok
// is false if the job has no trace, and outside a handler.
func TraceOf(ctx context.Context) (trace Trace, ok bool) {
	a := attemptOf(ctx)
	if a == nil {
		return Trace{}, false
	}
	return ParseTrace(a.job.Trace)
}
