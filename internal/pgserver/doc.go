// Package pgserver runs a throwaway PostgreSQL server from the programs
// installed on this machine. Tests, the crash run and the benchmarks use it;
// nothing that is deployed does.
//
//	server.go     Start, Stop, Restart, Close
//	programs.go   where initdb and postgres are looked for
//	database.go   one fresh database in a server that runs
//	guard.go      ends the server when this process dies, however it dies
package pgserver
