// Package wire speaks PostgreSQL's extended protocol for the store: several statements in one round trip, in
// one transaction, with parameters and rows in binary and no reflection between.
//
//	args.go      parameters and their types
//	pipeline.go  Run: send all, read all, learn that it is committed
//	row.go       reading values
//
// Nothing here leaves anything on the connection: statements have no names, settings last as long as the
// transaction. So a pooler in transaction mode may stand between.
package wire
