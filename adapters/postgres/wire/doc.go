// Package wire speaks PostgreSQL's extended protocol for the store: several statements in one round trip, in
// one transaction, with parameters and rows in binary and no reflection between.
//
//	args.go      parameters and their types
//	pipeline.go  Run: send all, read all, learn that it is committed
//	prepared.go  statements prepared once, where a connection is a session of its own
//	row.go       reading values
//
// Through a pooler in transaction mode nothing is left on the connection: statements have no names there, and
// settings last as long as the transaction.
package wire
