// Package rulestest is one table of jobs, bad ones and odd but good ones, as each way of submitting says them: HTTP,
// Go and SQL. The rules live twice, in core.CheckNewJob and in the SQL functions; tests on every side run this table,
// so that the two cannot drift apart.
//
//	case.go      what a row is, and how the rows of one side become those of the others
//	names.go     type, priority, tenant, dedupe key, tags, traceparent
//	payloads.go  payload
//	times.go     run_at, delay, expires_at
//	numbers.go   max_attempts, timeout, backoff
//	targets.go   target
//	kept.go      what must be kept of those that are accepted
package rulestest
