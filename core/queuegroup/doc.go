// Package queuegroup gives groups of job types queues of their own.
//
//	groups.go  Groups: which types belong to which group, and what their queues are called
//	queue.go   Queue: the queues of all groups as one
package queuegroup
