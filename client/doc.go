// Package client calls Belfry's HTTP API from Go.
//
//	c, err := client.New("https://belfry.example", client.Options{Token: token})
//	job, err := c.Submit(ctx, client.NewJob{Type: "mail.send", Payload: mail, DedupeKey: "welcome-" + userID})
//
// Calls whose repetition is safe are retried with a growing, jittered wait: reads, and submits, which carry an
// Idempotency-Key. What may or may not have happened is ErrUnknown, never a guess. Errors answer to errors.Is
// (ErrNotFound, ErrConflict, …) and errors.As (*Problem, FieldErrors).
//
// Package belfrytx below it submits jobs inside a transaction of yours instead.
//
// Files: client.go New and Options; call.go one call and its tries; backoff.go what is tried again, and when;
// problem.go errors; newjob.go and job.go the documents; submit.go, batch.go, jobs.go, list.go, dead.go,
// redrive.go, jobtype.go, attempt.go, schedules.go, schedule_ledger.go, tokens.go, stats.go the calls.
package client
