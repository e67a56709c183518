// Package queuetest is the contract of core.Queue, written as tests. Every adapter runs all of it and declares in its
// Harness what its queue cannot do. A case that needs a missing ability is skipped and says so.
//
// Faulty wraps a queue and breaks it on demand, for tests of its users.
package queuetest
