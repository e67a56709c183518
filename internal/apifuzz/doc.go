// Package apifuzz holds the served OpenAPI document and the API against each other: its test starts the real API
// with a token, on SQLite and on PostgreSQL, and lets Schemathesis make the requests of the document, right ones and
// wrong ones, alone and in chains. A fault is any answer that the document does not describe: a 500 above all.
//
//	go test ./internal/apifuzz     # the short form
//	make fuzz-api                  # the long form (ARGS="-for 10m")
//
//	fuzz_test.go        the run and what it must have done
//	seed_test.go        jobs in every state, so that there is something to find
//	schemathesis.toml   which checks are off for which operation
//	hooks.py            values that a schema cannot describe, and the rules beyond the schema
//	requirements.txt    Schemathesis and all it needs, pinned
package apifuzz
