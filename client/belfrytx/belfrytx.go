// Package belfrytx submits jobs in the caller's own PostgreSQL transaction, with pgx: the job exists if and only if the
// transaction commits. The database must be Belfry's.
package belfrytx

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/adapters/postgres"
	"github.com/belfry-dev/belfry/client"
	"github.com/belfry-dev/belfry/core"
)

// Submitted is the result of a submit.
type Submitted struct {
	ID        string
	RunAt     time.Time // by the database's clock: the time at which the transaction began
	CreatedAt time.Time
	Duplicate bool // the dedupe key is taken, and this is the live job that holds it
}

// SubmitTx submits a job in tx. It checks the rules of the API. A job that breaks one gets client.FieldErrors, and the
// transaction stays usable. Any other error comes from PostgreSQL, which then accepts only a rollback.
//
// After a rollback the job does not exist. After the commit, workers find it at their next claim, within a second or two. If
// another open transaction holds the dedupe key, the call waits until that one ends: set lock_timeout or a deadline for ctx
// if that could take long.
func SubmitTx(ctx context.Context, tx pgx.Tx, job client.NewJob) (Submitted, error) {
	all, err := SubmitBatchTx(ctx, tx, []client.NewJob{job})
	if err != nil {
		return Submitted{}, err
	}
	return all[0], nil
}

// SubmitBatchTx submits up to 10,000 jobs in tx, either all or none. Item i is for job i.
func SubmitBatchTx(ctx context.Context, tx pgx.Tx, jobs []client.NewJob) ([]Submitted, error) {
	rows := make([]core.NewJob, len(jobs))
	for i := range jobs {
		var err error
		if rows[i], err = row(&jobs[i]); err != nil {
			return nil, err
		}
	}
	answers, err := postgres.SubmitTx(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	submitted := make([]Submitted, len(answers))
	for i, a := range answers {
		submitted[i] = Submitted{ID: strconv.FormatInt(a.ID, 10), RunAt: a.RunAt, CreatedAt: a.CreatedAt, Duplicate: a.Existing}
	}
	return submitted, nil
}

// row returns the job in the store's form.
func row(j *client.NewJob) (core.NewJob, error) {
	n := core.NewJob{
		Type: j.Type, Tenant: j.Tenant, RunAt: j.RunAt, Delay: j.Delay, DedupeKey: j.DedupeKey, MaxAttempts: j.MaxAttempts,
		Timeout: j.Timeout, ExpiresAt: j.ExpiresAt, Backoff: j.Backoff, Tags: j.Tags,
	}
	if j.Priority != "" {
		var err error
		if n.Priority, err = core.ParsePriority(string(j.Priority)); err != nil {
			return n, client.FieldErrors{{Field: "priority", Rule: "must be critical, default or bulk"}}
		}
	}
	var err error
	if j.Payload != nil {
		n.Payload, err = core.MarshalValue("payload", j.Payload)
	}
	if err == nil && j.Target != nil {
		n.Target, err = json.Marshal(j.Target)
	}
	return n, err
}
