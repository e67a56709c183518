// Package pulltest runs the workers that pull, as the programs that are deployed, against a PostgreSQL and the queues'
// emulators, and counts what they call.
package pulltest
