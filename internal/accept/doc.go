// Command accept submits 20,000 jobs of every kind over HTTP and holds how each ended against what the file
// it made implies: status, attempts, and the payload byte for byte. It starts cmd/local itself, unless -url
// names a server that runs already.
//
//	generate.go   the file: a seeded generator of lines
//	submit.go     lines become requests; early and late cancels
//	check.go      what each line implies, and whether it held
//	server.go     cmd/local as a child process
package main
