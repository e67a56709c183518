// Package pgserver runs a throwaway PostgreSQL server, and a PgBouncer before
// one, from the programs installed on this machine. Tests, the crash run and
// the benchmarks use it; nothing that is deployed does.
//
//	server.go     Start, Stop, Restart, Close
//	bouncer.go    PgBouncer in transaction mode
//	database.go   one fresh database in a server that runs
//	guard.go      ends the server when this process dies, however it dies
//	programs.go   where initdb and postgres are looked for
//	process_*.go  which user the programs run as
//	machine.go    folders, ports, logs, and waiting for an answer
package pgserver
