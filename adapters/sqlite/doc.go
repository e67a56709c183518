// Package sqlite is the embedded store: the whole of Belfry's state in one file, in pure Go, for one process.
//
// The file is in WAL mode with full synchronisation, so an answer means the disk has it. One goroutine
// writes: it runs the operations of all callers that wait in one transaction, each in a savepoint of its
// own, and answers them after the commit. Readers have connections of their own and never wait for it.
// A second process on the same file is refused.
//
// Where to look:
//
//	open.go, check.go, lock.go   the way from a path to a Store, and what can be wrong with a file
//	schema.go, sql/migrations    the tables
//	conn.go, statement.go        one connection and its prepared statements, sql/*.sql
//	writer.go, operation.go      group commit; reader.go: the pool of readers
//	clock.go                     the store's time
//	row.go                       a row to a core.Job and back
//	submit.go, job.go, change.go, dead.go          accepting, reading and changing jobs
//	tick.go, lease.go, dispatch.go, maintain.go    the scheduler's part
//	claim.go, select_due.go, start.go, finish.go …      the workers' part
//	schedule.go, advance.go, alert.go              schedules, their steps, alerts
//	type*.go, token.go, secret.go, idempotency.go  what the API keeps beside jobs
//	rollup.go, stats*.go         the numbers
//
// The bucket of a job is computed from its id and has no column. There are no partitions: retention
// deletes in small batches and gives the pages back.
package sqlite
