// Package handler lets a program run jobs in Go: functions with typed payloads, registered by job type.
//
//	set := handler.NewSet(handler.SetOptions{})
//	handler.Register(set, "email.send", func(ctx context.Context, job *handler.Job[Email]) error {
//		return mail.Send(ctx, job.Payload.To, job.Payload.Subject)
//	})
//	handlers, err := set.Handlers() // for a worker
//
// A nil error ends the job as done. Any other error is retried after the job's back-off, unless it was marked by Permanent,
// RetryAfter or Snooze. The context ends on cancel, on the attempt's timeout, when the lease is lost and when the worker
// stops; context.Cause says which. A job may run more than once, because its worker can die after the work and before the
// end is recorded. So handlers must be idempotent.
//
// Where to look:
//
//	set.go, register.go    registering functions by type
//	job.go, decode.go      what a function receives: the payload, the row, the result
//	errors.go              the errors that it may return
//	middleware.go          code around every function
//	logger.go, trace.go    what the context carries
//
// Package belfrytest runs a Set on the real engine in memory, with a clock to advance.
package handler
