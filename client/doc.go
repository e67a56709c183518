// Package client calls Belfry's HTTP API from Go.
//
//	c, err := client.New("https://belfry.example", client.Options{Token: token})
//	job, err := c.Submit(ctx, client.NewJob{Type: "mail.send", Payload: mail, DedupeKey: "welcome-" + userID})
//
// Calls that are safe to repeat are retried with a growing, jittered wait: reads, and submits, which carry an
// Idempotency-Key. If a write may or may not have happened, the error is ErrUnknown. Errors work with errors.Is
// (ErrNotFound, ErrConflict, …) and errors.As (*Problem, FieldErrors).
//
// Package client/belfrytx submits jobs inside your own transaction instead.
//
// Files: client.go New and Options; call.go one call and its tries; backoff.go which errors are retried, and when;
// problem.go errors; newjob.go and job.go the documents; submit.go, batch.go, jobs.go, list.go, dead.go, redrive.go,
// jobtype.go, attempt.go, schedules.go, schedule_ledger.go, tokens.go, stats.go the calls.
package client
