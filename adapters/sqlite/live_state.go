package sqlite

import (
	"math"

	"github.com/belfry-dev/belfry/core"
)

// Reasons of cancelled jobs.
const (
	reasonCancelled = "cancelled"
	reasonExpired   = "expired"
)

// liveState is the part of a live row that transitions depend on and change.
type liveState struct {
	id           int64
	status       core.Status
	token        int64
	leaseUntil   int64 // 0 means none
	ended        int64 // as stored: negative where lost
	cancelWanted bool
	attempts     int64
	maxAttempts  int64
	snoozes      int64
	expiresAt    any
	errors       any // as stored: what someone damaged stays as it is until an end replaces it
}

func (r row) liveState() liveState {
	return liveState{
		id: r.int(colID), status: core.Status(r.int(colStatus)), token: r.int(colLeaseToken), leaseUntil: r.int(colLeaseUntil),
		ended: r.int(colEndedToken), cancelWanted: r.int(colCancelWanted) != 0, attempts: r.int(colAttempts),
		maxAttempts: r.int(colMaxAttempts), snoozes: r.int(colSnoozes), expiresAt: r[colExpiresAt], errors: r[colErrors],
	}
}

// liveStateOnly reads a row of get_attempts or expire.
func (r row) liveStateOnly() liveState {
	return liveState{
		id: r.int(0), status: core.Status(r.int(1)), token: r.int(2), leaseUntil: r.int(3), ended: r.int(4),
		cancelWanted: r.int(5) != 0, attempts: r.int(6), maxAttempts: r.int(7), snoozes: r.int(8), expiresAt: r[9], errors: r[10],
	}
}

// raise makes messages in flight and former holders worthless.
func (a *liveState) raise() { a.token = increment(a.token) }

// increment adds one where there is room: a number someone damaged must not stop a statement.
func increment(n int64) int64 {
	if n == math.MaxInt64 {
		return n
	}
	return n + 1
}

// end moves a live job to its end: done and cancelled to the history, failed to the dead letters.
func (t *tx) end(a liveState, status core.Status, reason string, result any) error {
	name := "end_job"
	if status == core.Failed {
		name = "bury_job"
	}
	if _, err := t.exec(name, a.id, int64(status), a.attempts, a.token, a.ended, a.errors, result, reason, t.now, a.snoozes); err != nil {
		return err
	}
	if status == core.Failed {
		if err := t.group(a.id); err != nil {
			return err
		}
	}
	_, err := t.exec("delete_job", a.id)
	return err
}

// putBack makes a live job wait until runAt.
func (t *tx) putBack(a liveState, runAt int64) error {
	_, err := t.exec("put_back", a.id, runAt, a.token, a.attempts, a.snoozes, a.ended, a.errors)
	return err
}

// refuse ends a job that was about to run but may not: its time is over, or its attempts are used up. It
// reports whether the job was refused.
func (t *tx) refuse(a liveState) (bool, error) {
	if at, ok := a.expiresAt.(int64); ok && at <= t.now {
		return true, t.end(a, core.Cancelled, reasonExpired, nil)
	}
	if a.attempts >= a.maxAttempts {
		text, _ := a.errors.(string)
		a.errors = encode(core.AppendError(decode[[]core.AttemptError]([]byte(text)), core.NoAttemptLeft(int(a.attempts), int(a.maxAttempts), instant(t.now))))
		return true, t.end(a, core.Failed, "", nil)
	}
	return false, nil
}
