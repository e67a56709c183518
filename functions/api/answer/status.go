package answer

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/belfry-dev/belfry/core"
	"github.com/belfry-dev/belfry/core/submit"
	"github.com/belfry-dev/belfry/functions/api/memory"
	"github.com/belfry-dev/belfry/functions/api/problem"
)

// statuses is the one table from error to status. The first that matches counts.
var statuses = []struct {
	is     error
	status int
	detail string
	retry  int // seconds in Retry-After; 0 means none
}{
	{core.ErrNotFound, http.StatusNotFound, "there is no job with this id", 0},
	{core.ErrConflict, http.StatusConflict, "the job's state does not allow it", 0},
	{core.ErrKeyDamaged, http.StatusInternalServerError, "what is kept under this idempotency key is damaged, so nobody knows what the first call came to: " +
		"look for its jobs, and use another key if they are not there", 0},
	{core.ErrRow, http.StatusInternalServerError, "a row of the store raises an error; see the server log and belfry doctor", 0},
	{core.ErrBusy, http.StatusServiceUnavailable, "another transaction holds what is needed; try again", 1},
	{core.ErrUnavailable, http.StatusServiceUnavailable, "the store cannot be reached; try again", 5},
	{core.ErrFull, http.StatusServiceUnavailable, "the store's disk is full; try again", 10},
	{core.ErrUnsafe, http.StatusServiceUnavailable, "the store is not used because its settings could lose accepted jobs; see GET /readyz", 10},
	{memory.ErrCrowded, http.StatusServiceUnavailable, "this server, or this caller, has too much request data in progress; try again", 2},
	{core.ErrRights, http.StatusServiceUnavailable, "the store's role lacks a right that this call needs; see GET /readyz", 10},
	{core.ErrReadOnly, http.StatusServiceUnavailable, "the store is read-only for now; try again", 10},
	{core.ErrSchema, http.StatusServiceUnavailable, "the store's schema version does not fit this program", 0},
	{core.ErrLocked, http.StatusServiceUnavailable, "another process has the database file open", 0},
	{core.ErrCorrupt, http.StatusServiceUnavailable, "the database file is damaged", 0},
	{core.ErrStopping, http.StatusServiceUnavailable, "this process is stopping; try again", 1},
	{submit.ErrClosed, http.StatusServiceUnavailable, "this process is stopping; try again", 1},
	{context.DeadlineExceeded, http.StatusServiceUnavailable, "no answer in time; the request may have been carried out", 5},
	{context.Canceled, statusGone, "the client is gone", 0},
}

// statusGone is what the log says where the client left before its answer.
const statusGone = 499

// ProblemOf makes the answer of an error. What is not in the table is a fault of ours: 500, and only the log
// says more.
func ProblemOf(err error) *problem.Problem {
	var p *problem.Problem
	var fields core.FieldErrors
	var field *core.FieldError
	var conflict *core.ConflictError
	var unready *unready
	var known *explained
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &fields) && len(fields) > 0:
		return problem.Fields(http.StatusUnprocessableEntity, fields)
	case errors.As(err, &field):
		return problem.Field(http.StatusUnprocessableEntity, field.Field, field.Rule)
	case errors.As(err, &conflict):
		return conflictProblem(conflict)
	case errors.As(err, &known):
		return known.problem
	case errors.As(err, &unready):
		return problem.New(http.StatusServiceUnavailable, unready.advice)
	}
	for _, row := range statuses {
		if errors.Is(err, row.is) {
			p := problem.New(row.status, row.detail)
			if row.retry > 0 {
				_ = p.With("Retry-After", strconv.Itoa(row.retry))
			}
			return p
		}
	}
	return problem.New(http.StatusInternalServerError, "internal error; see the server log")
}

// conflictProblem says which status, or which other job, stands in the way.
func conflictProblem(e *core.ConflictError) *problem.Problem {
	p := problem.New(http.StatusConflict, e.Error())
	p.Reason, p.JobID = ConflictReason(e)
	return p
}

// ConflictReason is the reason of a conflict, and the other job that stands in the way, if one does.
func ConflictReason(e *core.ConflictError) (reason, jobID string) {
	if e.Other != 0 {
		return "another live job holds the dedupe key", strconv.FormatInt(e.Other, 10)
	}
	return "the job is " + e.Job.Status.String(), ""
}

// explained is an error with the problem that answers it. The log has the error.
type explained struct {
	problem *problem.Problem
	cause   error
}

// Explained is an error that p answers.
func Explained(p *problem.Problem, cause error) error { return &explained{p, cause} }

func (e *explained) Error() string { return e.cause.Error() }
func (e *explained) Unwrap() error { return e.cause }

// unready is a fault of the store that its operator can mend. Readiness says how; other calls do not.
type unready struct {
	error
	advice string
}

// Unready is a fault of the store that readiness answers with advice.
func Unready(err error, advice string) error { return &unready{err, advice} }

func (e *unready) Unwrap() error { return e.error }
