// Command crashrun shows that nothing accepted is lost. It runs Belfry as separate processes on a durable
// PostgreSQL, submits 20,000 jobs while it kills, stops and continues the processes, the database and RabbitMQ, and
// then holds a witness file, written outside the database, and the final tables against the invariants.
//
//	main.go      the driver and its settings
//	run.go       one layout, from its servers to the final rows
//	report.go    the verdict, printed
//	layout.go    which processes there are, and the queue between them
//	process.go   one child process: start, kill, stop, continue
//	faults.go    the seeded schedule of faults
//	trouble.go   the poison job and the held dedupe key
//	damage.go    a damaged row of each hot table, and how it is mended
//	load.go      submits jobs and cancels some, over HTTP
//	node.go      what a child process runs: the real parts, wrapped by the witness and the named points
//	points.go    the named points at which a process kills itself
//	witness.go   the witness file
//	check*.go    the invariants
package main
