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
// Nothing is seen of them before it commits, and nothing remains when it rolls back; once committed they are found
// by the next claim. Jobs that break a rule are core.FieldErrors, and nothing was sent. Any other error leaves the
// transaction aborted, as every error of PostgreSQL does.
//
// A job whose dedupe key a live job of its tenant holds is not written: its answer is that job. A key that another
// open transaction holds is waited for, as long as ctx and the caller's lock_timeout allow. Keys are taken in order,
// so that two calls never deadlock; transactions that make several calls can, and then PostgreSQL ends one of them.
func SubmitTx(ctx context.Context, tx pgx.Tx, jobs []core.NewJob) ([]InTx, error) {
	if len(jobs) > core.MaxBatch {
		return nil, core.FieldErrors{{Field: "jobs", Rule: fmt.Sprintf("must have at most %d elements", core.MaxBatch)}}
	}
	now := time.Now()
	order := make([]int, len(jobs))
	for i := range jobs {
		if err := core.CheckNewJob(&jobs[i], now); err != nil {
			return nil, inItem(i, len(jobs), err)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(jobs[a].Tenant, jobs[b].Tenant), cmp.Compare(jobs[a].DedupeKey, jobs[b].DedupeKey))
	})
	sql, err := inTxStatements()
	if err != nil {
		return nil, fmt.Errorf("postgres: submit: %w", err)
	}
	answers := make([]InTx, len(jobs))
	for round := 1; len(order) > 0; round++ {
		if round > submitRounds {
			return nil, wrap("submit", core.ErrBusy)
		}
		if order, err = submitRound(ctx, tx, sql, jobs, order, answers); err != nil {
			return nil, wrap("submit", err)
		}
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

// submitRound writes the jobs of order, or finds who holds their keys, and returns those whose keys came free
// between the two: they are tried again.
func submitRound(ctx context.Context, tx pgx.Tx, sql statements, jobs []core.NewJob, order []int, answers []InTx) (again []int, err error) {
	taken, err := answerEach(ctx, tx, order, answers, false, func(b *pgx.Batch, i int) {
		b.Queue(sql["submit_in_tx"], inTxArgs(&jobs[i])...)
	})
	if err != nil || len(taken) == 0 {
		return nil, err
	}
	return answerEach(ctx, tx, taken, answers, true, func(b *pgx.Batch, i int) {
		b.Queue(sql["key_in_tx"], jobs[i].Tenant, jobs[i].DedupeKey)
	})
}

// answerEach sends one statement per job in one round trip and returns the jobs for which no row came back.
func answerEach(ctx context.Context, tx pgx.Tx, order []int, answers []InTx, existing bool, queue func(*pgx.Batch, int)) (without []int, err error) {
	batch := &pgx.Batch{}
	for _, i := range order {
		queue(batch, i)
	}
	results := tx.SendBatch(ctx, batch)
	for _, i := range order {
		a := InTx{Existing: existing}
		err = results.QueryRow().Scan(&a.ID, &a.RunAt, &a.CreatedAt)
		if errors.Is(err, pgx.ErrNoRows) {
			without = append(without, i)
			continue
		}
		if err != nil {
			break
		}
		a.RunAt, a.CreatedAt = a.RunAt.UTC(), a.CreatedAt.UTC()
		answers[i] = a
	}
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return without, errors.Join(err, results.Close())
}

// inTxArgs are the texts of a checked job; nil is null.
func inTxArgs(j *core.NewJob) []any {
	payload := "{}"
	if len(j.Payload) > 0 {
		payload = string(j.Payload)
	}
	return []any{
		j.Type, payload, strconv.Itoa(int(j.Priority)), j.Tenant, instantText(j.RunAt),
		textUnless(j.Delay == 0, strconv.FormatInt(j.Delay.Microseconds(), 10)+" microseconds"), strconv.Itoa(j.MaxAttempts),
		textUnless(j.Timeout == 0, strconv.FormatInt(j.Timeout.Microseconds(), 10)), instantText(j.ExpiresAt),
		textUnless(j.Backoff == nil, durationsLiteral(j.Backoff)), textUnless(j.Target == nil, string(j.Target)),
		textUnless(j.Tags == nil, textsLiteral(j.Tags)), textUnless(j.Trace == "", j.Trace), textUnless(j.DedupeKey == "", j.DedupeKey),
	}
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
