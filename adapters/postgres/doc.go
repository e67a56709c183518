// Package postgres keeps jobs in PostgreSQL 14 or newer, in the schema belfry. It works straight or through a
// pooler in transaction mode: no method keeps a transaction open across a round trip, and none relies on a session.
//
//	store.go        Open, Close, Options; run: one pipeline is one transaction and one round trip
//	migrate.go      Migrate; the schema is in migrations/
//	statement.go    the statements, one per file in sql/, and the parts they share
//	wrap.go         the server's errors as core's sentinels
//	jobrow.go       a row as a core.Job
//	submit.go       Submit
//	claim.go        ClaimDue, and what Tick's dispatch shares with it
//	start.go        Start, ReadClaim, Unhandled, Announce
//	heartbeat.go    Heartbeat
//	finish.go       Finish
//	tick.go         Tick, Undispatch; lease.go: what is remembered of bucket leases, ReleaseLeases
//	maintain.go     Maintain: history partitions, retention, rollups
//	change.go       Cancel, Reschedule; dead.go: Retry, Redrive, Discard, CountDead
//	get.go, list.go Get, Ended, List
//	rollup.go       AddRollups; stats.go: Stats, Ping
//
// The decisions behind the indexes, keys, plans and history are in docs/decisions.
package postgres
