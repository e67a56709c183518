// Package memorytest measures how much memory a server takes while callers send or read slowly, or much at once:
//
//	BELFRY_TEST_LARGE=1 go test ./internal/memorytest -v
//
// It starts cmd/server, or the program that BELFRY_TEST_SERVER names, anew for each attack, on PostgreSQL, and prints the
// peak of its resident memory, how the calls were answered, and how long /healthz took meanwhile. How requests are counted
// and refused functions/api tests in small.
package memorytest
