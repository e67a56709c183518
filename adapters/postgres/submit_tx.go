package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-dev/belfry/core"
)

// InTx is the answer for one job that was submitted in a transaction of the caller's.
type InTx struct {
	ID        int64
	RunAt     time.Time
	CreatedAt time.Time
	Existing  bool // the job is not new: it holds the dedupe key
}

// inTxStatements reads the statements once: there is no store here to keep them.
var inTxStatements = sync.OnceValues(loadStatements)

// SubmitTx writes jobs in a transaction of the caller's, in a database that Migrate was run on; item i answers job i.
// It calls belfry.submit_job, so that types are asked and marked there as for any other language. Nothing is seen of
// the jobs before the transaction commits, and nothing remains when it rolls back; once committed they are found by
// the next claim. Jobs that break a rule are core.FieldErrors, and nothing was written; times
// are held against the database's clock. Any other error leaves the transaction aborted, as every error of PostgreSQL does.
//
// A job whose dedupe key a live job of its tenant holds is not written: its answer is that job. A key that another
// open transaction holds is waited for, as long as ctx and the caller's lock_timeout allow. Keys are taken in order,
// so that two calls never deadlock; transactions that make several calls can, and then PostgreSQL ends one of them.
func SubmitTx(ctx context.Context, tx pgx.Tx, jobs []core.NewJob) ([]InTx, error) {
	if len(jobs) > core.MaxBatch {
		return nil, core.FieldErrors{{Field: "jobs", Rule: fmt.Sprintf("must have at most %d elements", core.MaxBatch)}}
	}
	sql, err := inTxStatements()
	if err != nil {
		return nil, fmt.Errorf("postgres: submit: %w", err)
	}
	now := time.Now()
	if slices.ContainsFunc(jobs, func(j core.NewJob) bool { return !j.RunAt.IsZero() || !j.ExpiresAt.IsZero() }) {
		if err := tx.QueryRow(ctx, sql["now_in_tx"]).Scan(&now); err != nil {
			return nil, wrap("submit", err)
		}
	}
	kept := make([]core.NewJob, len(jobs))
	order := make([]int, len(jobs))
	for i := range jobs {
		checked, err := core.CheckNewJob(jobs[i], core.JobType{}, now) // the SQL function asks for the type
		if err != nil {
			return nil, inItem(i, len(jobs), err)
		}
		kept[i] = checked.NewJob()
		kept[i].MaxAttempts = jobs[i].MaxAttempts
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(jobs[a].Tenant, jobs[b].Tenant), cmp.Compare(jobs[a].DedupeKey, jobs[b].DedupeKey))
	})
	batch := &pgx.Batch{}
	answers := make([]InTx, len(jobs))
	for _, i := range order {
		batch.Queue(sql["submit_in_tx"], inTxArgs(&kept[i])...).QueryRow(func(row pgx.Row) error {
			a := &answers[i]
			err := row.Scan(&a.ID, &a.RunAt, &a.CreatedAt, &a.Existing)
			a.RunAt, a.CreatedAt = a.RunAt.UTC(), a.CreatedAt.UTC()
			return err
		})
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, wrap("submit", err)
	}
	return answers, nil
}

// inItem puts the job's place before the fields, where there are several jobs.
func inItem(i, n int, err error) error {
	var fields core.FieldErrors
	if n == 1 || !errors.As(err, &fields) {
		return err
	}
	placed := make(core.FieldErrors, len(fields))
	for k, f := range fields {
		placed[k] = &core.FieldError{Field: fmt.Sprintf("jobs[%d].%s", i, f.Field), Rule: f.Rule}
	}
	return placed
}

// inTxArgs are the texts of a checked job; nil is null.
func inTxArgs(j *core.NewJob) []any {
	waits := make([]string, len(j.Backoff))
	for i, wait := range j.Backoff {
		waits[i] = intervalText(wait)
	}
	return []any{
		j.Type, textUnless(len(j.Payload) == 0, string(j.Payload)), instantText(j.RunAt), textUnless(j.Delay == 0, intervalText(j.Delay)), j.Priority.String(),
		textUnless(j.Tenant == "", j.Tenant), textUnless(j.DedupeKey == "", j.DedupeKey), textUnless(j.MaxAttempts == 0, strconv.Itoa(j.MaxAttempts)), textUnless(j.Timeout == 0, intervalText(j.Timeout)),
		instantText(j.ExpiresAt), textUnless(j.Backoff == nil, textsLiteral(waits)), textUnless(j.Target == nil, string(j.Target)),
		textUnless(j.Tags == nil, textsLiteral(j.Tags)), j.Trace,
	}
}

func intervalText(d time.Duration) string {
	return strconv.FormatInt(d.Microseconds(), 10) + " microseconds"
}

func textUnless(absent bool, text string) any {
	if absent {
		return nil
	}
	return text
}

// instantText is a time as the server reads it in any time zone and date style.
func instantText(t time.Time) any {
	return textUnless(t.IsZero(), t.UTC().Format("2006-01-02 15:04:05.999999Z07:00"))
}
