// Package node runs several roles (api, tick, worker) in one process, on a store and a queue that its caller opened, and lets
// them call one another: the tick wakes the worker, and the API publishes through the tick's topics.
//
//	node.go       Parts, Run: makes the roles and connects them
//	roles.go      which roles a process runs
//	dispatch.go   an API without a tick publishes jobs that are due at once
//	health.go     what each role says about its progress; progress.go: how it is known
package node
