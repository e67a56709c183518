// Package postgres keeps jobs in PostgreSQL 14 or newer, in the schema belfry. It works straight or through a
// pooler in transaction mode: no method keeps anything on a connection or a transaction across a round trip.
//
//	store.go      Open, Close, Options
//	migrate.go    Migrate; the schema is in migrations/
//	statement.go  the statements, one per file in sql/, and their names for shared parts
//	run.go        one pipeline of statements is one transaction and one round trip
//	wrap.go       the server's errors as core's sentinels
//	jobrow.go     a row as a core.Job
//	submit.go, claim.go, start.go, heartbeat.go, finish.go, tick.go, …   the port's methods
//
// Decisions and what was measured for them are in docs/decisions.
package postgres
