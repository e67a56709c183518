// Package belfrytx submits jobs inside a PostgreSQL transaction of the caller's, with pgx: the job exists exactly if
// the transaction commits. The database must be the one Belfry keeps its jobs in.
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

// Submitted says which job a submit led to.
type Submitted struct {
	ID        string
	RunAt     time.Time // by the clock of the database: the time at which the transaction began
	CreatedAt time.Time
	Duplicate bool // the dedupe key is taken, and this is the live job that has it
}

// SubmitTx submits a job in tx. The rules are those of the API: what breaks one is client.FieldErrors, and the
// transaction goes on. Any other error comes from PostgreSQL, which refuses all but a rollback then.
//
// Rolled back, there was no job. Committed, workers find it within their next look, a second or two. A dedupe key
// that another open transaction holds is waited for until that one ends: set lock_timeout, or give ctx a deadline,
// where that could be long.
func SubmitTx(ctx context.Context, tx pgx.Tx, job client.NewJob) (Submitted, error) {
	all, err := SubmitBatchTx(ctx, tx, []client.NewJob{job})
	if err != nil {
		return Submitted{}, err
	}
	return all[0], nil
}

// SubmitBatchTx submits up to 10,000 jobs in tx, all or none; item i is for job i.
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

// row is the job as the store takes it.
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
