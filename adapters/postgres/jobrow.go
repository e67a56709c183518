package postgres

import (
	"encoding/json"
	"time"

	"github.com/belfry-dev/belfry/adapters/postgres/wire"
	"github.com/belfry-dev/belfry/core"
)

// Places of the columns in rows that begin with {record}, and of those after it in {live} and {ended}.
const (
	colID = iota
	colRunAt
	colCreatedAt
	colStartedAt
	colExpiresAt
	colLeaseToken
	colEndedToken
	colClaimID
	colDispatchFence
	colAttempts
	colMaxAttempts
	colSnoozes
	colDispatches
	colPriority
	colType
	colTenant
	colPayload
	colTimeout
	colBackoff
	colDedupeKey
	colWorkerID
	colTarget
	colTags
	colTrace
	colSchedule
	colScheduledFor
	colCovers
	colErrors
	recordWidth // the first column after {record}
)

const (
	colStatus = recordWidth + iota
	colLeaseUntil
	colCancelWanted
	colFinishedAt
	colResult
	colReason
	jobWidth // the first column after {live} or {ended}
)

// record reads the columns of {record} into j. before is the job read before it, whose texts are shared where equal:
// a claim's rows mostly have one type, tenant and worker. No value a column can hold is an error.
func record(j *core.Job, r wire.Row, before *core.Job) {
	id := r.Int(colID)
	*j = core.Job{
		ID: id, Bucket: core.BucketOf(id),
		RunAt: r.Time(colRunAt), CreatedAt: r.Time(colCreatedAt),
		StartedAt: r.Time(colStartedAt), ExpiresAt: r.Time(colExpiresAt),
		LeaseToken: r.Int(colLeaseToken), EndedToken: r.Int(colEndedToken),
		ClaimID: r.Int(colClaimID), DispatchFence: r.Int(colDispatchFence),
		Attempts: int(r.Int(colAttempts)), MaxAttempts: int(r.Int(colMaxAttempts)),
		Snoozes: int(r.Int(colSnoozes)), Dispatches: int(r.Int(colDispatches)),
		Priority: core.Priority(r.Int(colPriority)),
		Type:     r.Same(colType, before.Type), Tenant: r.Same(colTenant, before.Tenant),
		Payload:   r.Bytes(colPayload),
		Timeout:   duration(r.Int(colTimeout)),
		DedupeKey: r.Text(colDedupeKey), WorkerID: r.Same(colWorkerID, before.WorkerID),
		Target: r.Bytes(colTarget), Trace: r.Text(colTrace),
	}
	if !r.Null(colBackoff) {
		for _, us := range r.Ints(colBackoff) {
			j.Backoff = append(j.Backoff, duration(us))
		}
	}
	if !r.Null(colTags) {
		j.Tags = r.Texts(colTags)
	}
	if !r.Null(colSchedule) {
		j.Run = core.DecodeCovers(r.Text(colSchedule), r.Time(colScheduledFor), r[colCovers])
	}
	if !r.Null(colErrors) {
		j.Errors = attemptErrors(r[colErrors])
	}
}

// appendRecord reads one more row of {record} after the others.
func appendRecord(jobs []core.Job, r wire.Row) []core.Job {
	n := len(jobs)
	jobs = append(jobs, core.Job{})
	before := &jobs[n]
	if n > 0 {
		before = &jobs[n-1]
	}
	record(&jobs[n], r, before)
	return jobs
}

// job reads the columns of {live} or {ended}.
func job(r wire.Row) core.Job {
	var j core.Job
	record(&j, r, &core.Job{})
	j.Status = core.Status(r.Int(colStatus))
	j.LeaseUntil = r.Time(colLeaseUntil)
	j.CancelWanted = r.Bool(colCancelWanted)
	j.FinishedAt = r.Time(colFinishedAt)
	j.Result = r.Bytes(colResult)
	j.Reason = r.Text(colReason)
	return j
}

// duration is a number of microseconds, held within what a Duration can be.
func duration(us int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Microsecond)
	return time.Duration(min(max(us, -most), most)) * time.Microsecond
}

// attemptErrors reads an error history. Of a damaged one it keeps what can be read.
func attemptErrors(text []byte) []core.AttemptError {
	var list []core.AttemptError
	if json.Unmarshal(text, &list) == nil {
		return list
	}
	var parts []json.RawMessage
	if json.Unmarshal(text, &parts) != nil {
		return nil
	}
	list = nil
	for _, part := range parts {
		var e core.AttemptError
		if json.Unmarshal(part, &e) == nil {
			list = append(list, e)
		}
	}
	return list
}
