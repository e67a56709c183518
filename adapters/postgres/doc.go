// Package postgres keeps jobs in PostgreSQL 14 or newer, in the schema belfry. It works straight or through a
// pooler in transaction mode: no method keeps a transaction open across a round trip, and none relies on a session.
//
//	store.go        Open, Close, Options; run: one pipeline is one transaction and one round trip
//	migrate.go      Migrate; the schema is in migrations/
//	statement.go    the statements, one per file in sql/, and the parts they share
//	wrap.go         the server's errors as core's sentinels
//	jobrow.go       a row as a core.Job
//	submit.go       Submit; idempotency.go: SubmitOnce; submit_tx.go: inside a transaction of the caller's
//	claim.go        ClaimDue, and what Tick's dispatch shares with it
//	start.go        Start, ReadClaim, Unhandled, Announce
//	heartbeat.go    Heartbeat
//	finish.go       Finish
//	tick.go         Tick, Undispatch; lease.go: what is remembered of bucket leases, ReleaseLeases
//	maintain.go     Maintain: history partitions, retention, rollups
//	change.go       Cancel, Reschedule; dead.go: Retry, Redrive, Discard, CountDead
//	get.go, list*.go Get, Ended, List
//	schedule.go     schedules; advance.go: their steps; alert.go: alerts
//	type.go         definitions of types; token.go: tokens; secret.go: secrets of the installation
//	rollup.go       AddRollups; stats.go: Stats, Ping; queued.go: CountQueued; diagnose.go: what doctor asks
//	frozen.go       processes that are frozen between calls
//
// The decisions behind the indexes, keys, plans and history are in docs/decisions.
package postgres
