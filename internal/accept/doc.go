// Command accept submits 20,000 jobs of every kind over HTTP and holds how each ended against what the file
// it made implies: status, attempts, and the payload byte for byte. It starts cmd/local itself, or with -queue the roles
// as processes of their own over a real queue, unless -url names a server that runs already.
//
//	generate.go   the file: a seeded generator of lines
//	submit.go     lines become requests; early and late cancels
//	check.go      what each line implies, and whether it held
//	server.go     what is started: cmd/local, or a process for each role and a server for its queues
//	child.go      a child process
//	serve.go      what a child of one role runs
package main
