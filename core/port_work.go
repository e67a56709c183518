package core

import "time"

// Ref points at one row under one token.
type Ref struct {
	ID    int64
	Token int64
}

// ClaimRequest says who claims, how much, and for how long.
type ClaimRequest struct {
	WorkerID string
	ClaimID  int64 // fresh for every call
	Lease    time.Duration
	Quotas   []Quota // ClaimDue only
	Targeted bool    // Start only: rows without a target of their own stay queued and come back Busy
}

// ClaimResult answers ClaimDue.
type ClaimResult struct {
	Now   time.Time
	Jobs  []Job
	Taken []Taken       // one per quota
	DueIn time.Duration // until the next row of the quotas' lanes is due, at most an hour; 0 when the limits were reached
}

// StartResult answers Start.
type StartResult struct {
	Now  time.Time
	Jobs []Job
	Busy []Ref
}

// Beat answers one heartbeat. Neither flag set: extended.
type Beat struct {
	Stale        bool // the token is no longer current: stop the handler
	Busy         bool // locked: not extended, try again
	CancelWanted bool
}

// Outcome is how an attempt ended.
type Outcome int8

// The outcomes. If cancel is wanted, the write itself turns every outcome but EndDone into cancelled.
const (
	EndDone     Outcome = 1 // → done
	EndFail     Outcome = 2 // → failed: permanent, or attempts used up
	EndRetry    Outcome = 3 // → scheduled at now + Wait, token + 1
	EndSnooze   Outcome = 4 // the same, the attempt not counted, snoozes + 1
	EndHandBack Outcome = 5 // the same, the attempt not counted
	// EndAccepted (webhook 202): stays running under the same token for Wait, owned by TargetWorkerID, also if cancel is
	// wanted: the target's complete or fail ends it, or its lease passes. A repeat starts Wait again. Heartbeats extend such
	// a lease and never shorten it, so that a late heartbeat of the worker does no harm.
	EndAccepted Outcome = 6
	// EndLoss is EndRetry for a run that was lost with its worker and costs no attempt.
	EndLoss Outcome = 7
)

// TargetWorkerID is the worker_id of running rows whose target answered 202.
const TargetWorkerID = "target"

// End is the end of one attempt.
type End struct {
	Ref
	Outcome Outcome
	Wait    time.Duration  // EndRetry, EndLoss, EndSnooze, EndHandBack, EndAccepted
	Errors  []AttemptError // the row's whole error history from now on (EndFail, EndRetry, EndLoss, EndSnooze; EndDone only with a note on its result)
	Result  []byte         // EndDone: JSON or nil
	Lost    bool           // by the reaper: applies only while the row's lease has passed
}

// EndAnswer answers one End.
type EndAnswer struct {
	Status Status // the row's status now; 0 when Stale or Busy
	Stale  bool   // the token is not current and this end was not recorded before: nothing changed
	Busy   bool   // locked: nothing changed, try again
	Repeat bool   // this end was recorded before
}

// Rollup counts one minute of one priority and type.
type Rollup struct {
	Minute                                                           time.Time
	Priority                                                         Priority
	Type                                                             string
	Starts, Done, Failed, Retried, Cancelled, Lost, Snoozed, Strayed int64
	Lag                                                              [LagBuckets]int64 // histogram of schedule lag; LagBounds has its bounds
	LagSum                                                           int64             // microseconds; one start adds at most MaxLagCounted
}

// Add adds the counts of o to r.
func (r *Rollup) Add(o *Rollup) {
	r.Starts += o.Starts
	r.Done += o.Done
	r.Failed += o.Failed
	r.Retried += o.Retried
	r.Cancelled += o.Cancelled
	r.Lost += o.Lost
	r.Snoozed += o.Snoozed
	r.Strayed += o.Strayed
	r.LagSum += o.LagSum
	for i, n := range o.Lag {
		r.Lag[i] += n
	}
}

// LagBuckets is the number of buckets in a schedule lag histogram: one per bound, and one beyond the last.
const LagBuckets = len(LagBounds) + 1

// LagBounds are the upper bounds of the schedule lag histogram. They are fine around one second, the tick's period, and
// reach an hour.
var LagBounds = [...]time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 5 * time.Minute, time.Hour,
}

// MaxLagCounted is the largest lag that one start adds to a sum of lags. A run_at may lie ten years back: without a bound a
// few thousand such jobs would overflow the sum.
const MaxLagCounted = 24 * time.Hour

// LagBucket returns the index of the histogram bucket that lag falls into. A negative lag counts as none.
func LagBucket(lag time.Duration) int {
	for i, bound := range LagBounds {
		if lag <= bound {
			return i
		}
	}
	return len(LagBounds)
}

// LagQuantile reads the q-quantile (0 … 1) off a histogram, interpolated within its bucket. An empty
// histogram answers 0; the bucket beyond the last bound answers that bound.
func LagQuantile(hist [LagBuckets]int64, q float64) time.Duration {
	var total int64
	for _, n := range hist {
		total += n
	}
	rank, seen := q*float64(total), int64(0)
	lower := time.Duration(0)
	for i, n := range hist {
		if i == len(LagBounds) {
			break
		}
		if n > 0 && float64(seen+n) >= rank {
			return lower + time.Duration((rank-float64(seen))/float64(n)*float64(LagBounds[i]-lower))
		}
		seen += n
		lower = LagBounds[i]
	}
	if total == 0 {
		return 0
	}
	return LagBounds[len(LagBounds)-1]
}
