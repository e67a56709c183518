package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"time"

	"github.com/belfry-dev/belfry/core"
)

// row is one row as the driver hands it over. Its accessors never fail: a value that someone damaged by
// hand reads as none.
type row []driver.Value

func (r row) int(i int) int64 {
	n, _ := r[i].(int64)
	return n
}

func (r row) text(i int) string {
	s, _ := r[i].(string)
	return s
}

func (r row) raw(i int) json.RawMessage {
	if s, ok := r[i].(string); ok {
		return json.RawMessage(s)
	}
	return nil
}

func (r row) time(i int) time.Time {
	if us, ok := r[i].(int64); ok {
		return instant(us)
	}
	return time.Time{}
}

// The columns of jobs, job_history and dead_letters, in the order of SELECT *.
const (
	colID = iota
	colType
	colPayload
	colPriority
	colTenant
	colRunAt
	colStatus
	colAttempts
	colMaxAttempts
	colSnoozes
	colLeaseToken
	colLeaseUntil
	colReapAt
	colEndedToken
	colClaimID
	colWorkerID
	colDispatchFence
	colDispatches
	colCancelWanted
	colDedupeKey
	colTimeout
	colExpiresAt
	colBackoff
	colTarget
	colTags
	colTrace
	colErrors
	colResult
	colReason
	colCreatedAt
	colStartedAt
	colFinishedAt
	colSchedule
	colScheduledFor
	colCovers
	columns
)

// job reads a row of SELECT *.
func (r row) job() core.Job {
	id := r.int(colID)
	return core.Job{
		Run: r.run(),
		ID:  id, Type: r.text(colType), Payload: r.raw(colPayload), Priority: core.Priority(r.int(colPriority)),
		Tenant: r.text(colTenant), RunAt: r.time(colRunAt), Status: core.Status(r.int(colStatus)),
		Attempts: int(r.int(colAttempts)), MaxAttempts: int(r.int(colMaxAttempts)), Snoozes: int(r.int(colSnoozes)),
		LeaseToken: r.int(colLeaseToken), LeaseUntil: r.time(colLeaseUntil), EndedToken: tokenOf(r.int(colEndedToken)),
		ClaimID: r.int(colClaimID), WorkerID: r.text(colWorkerID), DispatchFence: r.int(colDispatchFence),
		Dispatches: int(r.int(colDispatches)), CancelWanted: r.int(colCancelWanted) != 0,
		DedupeKey: r.text(colDedupeKey), Timeout: duration(r.int(colTimeout)), ExpiresAt: r.time(colExpiresAt),
		Backoff: backoffOf(r.raw(colBackoff)), Target: r.raw(colTarget), Tags: decode[[]string](r.raw(colTags)),
		Trace: r.text(colTrace), Bucket: core.BucketOf(id),
		Errors: decode[[]core.AttemptError](r.raw(colErrors)), Result: r.raw(colResult), Reason: r.text(colReason),
		CreatedAt: r.time(colCreatedAt), StartedAt: r.time(colStartedAt), FinishedAt: r.time(colFinishedAt),
	}
}

// tokenOf reads ended_token, which is negative where the attempt ended as lost.
func tokenOf(ended int64) int64 { return max(ended, -ended) }

// decode reads a JSON column; damaged text reads as none.
func decode[T any](text json.RawMessage) T {
	var v, none T
	if len(text) == 0 || json.Unmarshal(text, &v) != nil {
		return none
	}
	return v
}

// encode writes a JSON column; an empty list is stored as NULL.
func encode[T any](list []T) any {
	if len(list) == 0 {
		return nil
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil // lists of strings, numbers and times in range always marshal
	}
	return string(text)
}

func backoffOf(text json.RawMessage) []time.Duration {
	waits := decode[[]int64](text)
	if waits == nil {
		return nil
	}
	backoff := make([]time.Duration, len(waits))
	for i, us := range waits {
		backoff[i] = duration(us)
	}
	return backoff
}

func encodeBackoff(backoff []time.Duration) any {
	waits := make([]int64, len(backoff))
	for i, d := range backoff {
		waits[i] = d.Microseconds()
	}
	return encode(waits)
}

// timeOrNull stores the zero time and empty JSON as NULL.
func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return micros(t)
}

func textOrNull(text []byte) any {
	if len(text) == 0 {
		return nil
	}
	return string(text)
}

// ids writes a list of ids as a JSON array, the one shape in which SQLite takes a list.
func ids(list []int64) string {
	if len(list) == 0 {
		return "[]"
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // integers always marshal
	}
	return string(text)
}
